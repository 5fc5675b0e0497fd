"""Compares the collectives and the peak memory in reports with those of programs that XLA compiles."""
