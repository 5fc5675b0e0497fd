"""Random programs, for comparing passes with the reference where nobody thought of an example.

`random_module(seed)` in `modules.py` is a valid module as text, always the same one for a seed. The
modules are small and dense: a few functions that call each other, with loops, branches, barriers, manual
and named computations inside each other, over a few small tensors, so that values have many uses, and
most values have a sharding, a constraint or a group.

    python -m tests.random_modules.compare --seeds 0:2000 --reference-python PYTHON

runs pipelines on them here and there, and shows what differs. `make test-reference` does it for a few.
"""
