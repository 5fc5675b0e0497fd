"""Passes that propagate user shardings through a module."""
