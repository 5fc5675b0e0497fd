"""The tensor dialect, as far as programs of the mesh dialect use it, in the form of LLVM 19."""

from sdyopt.dialects.tensor import casts, creation, slices
from sdyopt.dialects.tensor.dialect import tensor_dialect

DIALECT = tensor_dialect

__all__ = ["DIALECT", "casts", "creation", "slices"]
