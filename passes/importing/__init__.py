"""Passes that run before propagation: they bring user programs into the form that propagation expects."""
