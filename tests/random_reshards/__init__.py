"""Random reshards, lowered to collectives by sdy-opt and by the C++ passes.

`random_reshard(seed)` in `cases.py` generates one: a shape, a source and a target sharding, and the meshes.
`module_text` writes many as one module with a function for each. `compare.py` compares the output of
`sdy-reshard-to-collectives`.
"""
