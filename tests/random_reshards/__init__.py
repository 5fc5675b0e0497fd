"""Random reshards: what becomes of a tensor on its way from one sharding to another, here and in C++.

`random_reshard(seed)` in `cases.py` makes one: a shape, its sharding before and after, and the meshes.
`module_text` writes many as one module, a function for each. `compare.py` compares what
`sdy-reshard-to-collectives` makes of them.
"""
