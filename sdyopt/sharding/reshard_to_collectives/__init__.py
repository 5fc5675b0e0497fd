"""Plans the collectives that reshard a tensor from one sharding to another.

`plan.py` creates the plan, which depends on the shape, both shardings and the mesh only. `state.py` has the
surplus and missing axes per dimension; a module for each collective decides when it helps and updates the
state.
"""
