"""The arith dialect, as far as programs of the mesh dialect use it, in the form of LLVM 19."""

from sdyopt.dialects.arith import compare, constant, floats, integers
from sdyopt.dialects.arith.dialect import arith

DIALECT = arith

__all__ = ["DIALECT", "compare", "constant", "floats", "integers"]
