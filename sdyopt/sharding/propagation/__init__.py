"""Sharding propagation through one operation: projections, directions and the two strategies."""
