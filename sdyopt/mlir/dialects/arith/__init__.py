"""The subset of the arith dialect of LLVM 19 that programs of the mesh dialect use."""

from sdyopt.mlir.dialects.arith import compare, floats, integers
from sdyopt.mlir.dialects.arith.dialect import arith

DIALECT = arith

__all__ = ["DIALECT", "compare", "floats", "integers"]
