"""The subset of the tensor dialect of LLVM 19 that programs of the mesh dialect use."""

from sdyopt.mlir.dialects.tensor import casts, creation, slices
from sdyopt.mlir.dialects.tensor.dialect import tensor_dialect

DIALECT = tensor_dialect

__all__ = ["DIALECT", "casts", "creation", "slices"]
