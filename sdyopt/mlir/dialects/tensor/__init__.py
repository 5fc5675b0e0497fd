"""The subset of the tensor dialect of LLVM 19 that programs of the mesh dialect use."""

from sdyopt.mlir.dialects.tensor import slices
from sdyopt.mlir.dialects.tensor.values import tensor_dialect

DIALECT = tensor_dialect

__all__ = ["DIALECT", "slices"]
