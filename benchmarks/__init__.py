"""Measures sdy-opt and, where they can be imported, the C++ passes."""
