"""The linalg dialect: generic and named operations, without verifying the shapes of named ones."""

from sdyopt.mlir.dialects.linalg import contractions, layout, map_reduce, named
from sdyopt.mlir.dialects.linalg.structured import linalg

DIALECT = linalg

__all__ = ["DIALECT", "contractions", "generic", "layout", "map_reduce", "named"]
