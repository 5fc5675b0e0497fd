"""Compares the collectives and the peak memory in reports with those of the programs that XLA compiles."""
