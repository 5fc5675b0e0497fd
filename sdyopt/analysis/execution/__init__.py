"""Execution of programs on virtual devices, by XLA in a process of its own, and comparison of results.

The process of sdy-opt prepares the texts of the programs, and describes which slice of each value every
device has. The package `worker`, which needs jax, runs in the other process.
"""
