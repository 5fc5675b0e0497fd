"""The subset of the affine dialect that programs of the mesh dialect use: apply, delinearize_index."""

from sdyopt.mlir.dialects.affine import ops
from sdyopt.mlir.dialects.affine.ops import affine

DIALECT = affine

__all__ = ["DIALECT", "ops"]
