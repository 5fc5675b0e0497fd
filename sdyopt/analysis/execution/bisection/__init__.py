"""Bisection: the pass and the operation that make a program compute something else."""
