"""The subset of the affine dialect that programs of the mesh dialect use: apply, delinearize_index."""

from sdyopt.dialects.affine import ops
from sdyopt.dialects.affine.ops import affine

DIALECT = affine

__all__ = ["DIALECT", "ops"]
