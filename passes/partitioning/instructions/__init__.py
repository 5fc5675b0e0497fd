"""Helpers of sdy-per-instruction-partitioning."""
