"""The tensor dialect."""

from sdyopt.mlir.dialects.tensor import elements, shapes, slices
from sdyopt.mlir.dialects.tensor.values import tensor_dialect

DIALECT = tensor_dialect

__all__ = ["DIALECT", "elements", "shapes", "slices"]
