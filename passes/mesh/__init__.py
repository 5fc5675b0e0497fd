"""Passes of MLIR's mesh dialect: propagate shardings, then partition the program."""
