"""Measures sdy-opt, and the C++ passes if a Python that has jaxlib is given."""
