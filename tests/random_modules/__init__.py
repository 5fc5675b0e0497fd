"""Random programs, on which passes are compared with the C++ passes.

`random_module(seed)` in `modules.py` returns the text of a valid module; the same seed gives the same module.
The modules are small and dense: a few functions that call each other, with nested loops, branches, barriers,
manual and named computations, over a few small tensor types. So values have many uses, and most have a
sharding, a constraint or a group. `compare.py` lists the other kinds of programs.

    python -m tests.random_modules.compare --seeds 0:2000 --reference-python PYTHON

runs pipelines on them with both tools and prints the differences. `make test-reference` does so for a few
seeds.

    python -m tests.random_modules.execute --count 2000 --python PYTHON

partitions programs that XLA can run, and compares what they compute.
"""
