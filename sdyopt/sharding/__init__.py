"""Sharding algebra: axis lists, sharding rules, propagation, explicit reshards and collectives."""
