"""The subset of the tosa dialect of LLVM 19 that programs of the mesh dialect use."""

from sdyopt.mlir.dialects.tosa import elementwise, matmul
from sdyopt.mlir.dialects.tosa.dialect import tosa

DIALECT = tosa

__all__ = ["DIALECT", "elementwise", "matmul"]
