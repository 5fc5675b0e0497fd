"""Analyses of programs, and the figures, records and notations that they show."""
