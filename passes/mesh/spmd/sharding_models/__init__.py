"""Sharding models: a module per dialect, named after its namespace.

Each defines `find_model(op)`, which returns the function from an operation to its iteration space; None
if the operation cannot be sharded.
"""
