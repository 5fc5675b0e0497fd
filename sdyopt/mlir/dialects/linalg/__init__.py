"""The subset of the linalg dialect that programs of the mesh dialect use."""

from sdyopt.mlir.dialects.linalg import generic, map_reduce, named
from sdyopt.mlir.dialects.linalg.structured import linalg

DIALECT = linalg

__all__ = ["DIALECT", "generic", "map_reduce", "named"]
