"""Random programs for sharding rules and propagation: every operation that has a rule, over all shapes.

The operations stand in tables, one table per file, with how often each of them is chosen. `modules.py`
puts them together with the loops, manual computations, groups and calls that other random programs have.
"""
