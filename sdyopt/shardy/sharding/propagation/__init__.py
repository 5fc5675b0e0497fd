"""Sharding propagation through one operation: directions, the two strategies and the propagation step."""
