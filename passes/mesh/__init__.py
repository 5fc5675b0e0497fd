"""Passes of MLIR's mesh dialect: propagate its shardings, then partition the program."""
