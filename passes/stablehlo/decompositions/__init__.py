"""How operations of CHLO are computed by those of StableHLO."""
