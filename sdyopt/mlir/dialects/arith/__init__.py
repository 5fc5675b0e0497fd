"""The subset of the arith dialect of LLVM 19 that programs of the mesh dialect use."""

from sdyopt.mlir.dialects.arith import bitwise, casts, compare, floats, integers, select
from sdyopt.mlir.dialects.arith.dialect import arith

DIALECT = arith

__all__ = ["DIALECT", "bitwise", "casts", "compare", "floats", "integers", "select"]
