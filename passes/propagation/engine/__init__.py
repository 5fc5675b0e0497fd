"""The propagation engine that the propagation passes share: driver, sites, worklist and sharding map."""
