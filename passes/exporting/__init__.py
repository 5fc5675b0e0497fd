"""Passes that come after propagation: from shardings to the data movement they imply."""
