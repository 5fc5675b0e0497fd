"""Execution of programs on virtual devices, by XLA in a process of its own, and comparison of results.

This process prepares the texts of the programs, and says which slice of each value every device has. The
package `worker`, which needs jax, runs in the other process.
"""
