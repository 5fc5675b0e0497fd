"""Random programs for sharding rules and propagation: all operations with a rule, on random shapes.

Each file has a table of operations with their weights. `modules.py` combines them with the loops, manual
computations, groups and calls of the other random programs.
"""
