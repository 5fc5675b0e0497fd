"""Passes that show an analysis inside a pipeline. The registry finds them as it finds those of `passes/`."""
