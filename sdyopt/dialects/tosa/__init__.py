"""The tosa dialect, as far as programs of the mesh dialect use it, in the form of LLVM 19."""

from sdyopt.dialects.tosa import elementwise, matmul
from sdyopt.dialects.tosa.dialect import tosa

DIALECT = tosa

__all__ = ["DIALECT", "elementwise", "matmul"]
