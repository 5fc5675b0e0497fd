"""The propagation of shardings over a module, which the propagation passes share."""
