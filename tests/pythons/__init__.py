"""Checks that sdy-opt prints the same bytes under every Python."""
