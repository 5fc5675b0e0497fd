"""Passes that run before propagation and prepare the program for it."""
