"""Runs small StableHLO programs with numpy: whole, or partitioned on simulated devices that run in lockstep.

`machine` runs functions, and `operations`, `windows`, `indexing` and `collectives` have a table of operations
each. `partitioned` compares a program with its partitioned form. Partitioning is tested without jax this way;
`tests/random_modules/execute.py` runs larger programs with XLA.
"""
