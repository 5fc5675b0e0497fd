"""Plans the collectives that reshard a tensor from one sharding to another.

`plan.py` creates the plan, which depends on the shape, both shardings and the mesh only. `state.py` has the
surplus and missing axes per dimension. The module of each collective decides whether and along which axes it
is used, and updates the state.
"""
