"""How a tensor gets from one sharding to another: the collectives to run, one after the other.

`plan.py` makes the plan, a function of the shape, both shardings and the mesh alone. `progress.py` holds what
is left to do; a module for each kind of collective says when one helps, and brings the progress forward.
"""
