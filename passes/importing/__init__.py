"""Passes that come before propagation: from what users write to what propagation expects."""
