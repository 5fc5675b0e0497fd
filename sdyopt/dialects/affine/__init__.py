"""The affine dialect, as far as programs of the mesh dialect use it: apply, delinearize_index."""

from sdyopt.dialects.affine import ops
from sdyopt.dialects.affine.ops import affine

DIALECT = affine

__all__ = ["DIALECT", "ops"]
