"""Passes that run after propagation: they close shardings and make reshards and collectives explicit."""
