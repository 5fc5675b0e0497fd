"""Compares reports with what XLA compiles: collectives, and peak memory."""
