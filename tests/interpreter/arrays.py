"""Tensors as numpy arrays. Floats of all widths are float64: tests use numbers for which sums are exact."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.types import FloatType, RankedTensor, Type

Array = NDArray[Any]

_FLOATS = {"f16": "<f2", "f32": "<f4", "f64": "<f8"}


def dtype_of(type: Type) -> Any:
    """The dtype of arrays of a type."""
    assert isinstance(type, RankedTensor)
    if isinstance(type.element, FloatType):
        return np.float64
    name = plain_type(type.element)
    if name == "i1":
        return np.bool_
    return np.dtype(name.replace("ui", "uint") if name.startswith("u") else name.replace("i", "int"))


def constant(value: DenseElements) -> Array:
    """The array of a constant."""
    type = value.type
    assert isinstance(type, RankedTensor)
    name = plain_type(type.element)
    if name == "bf16":
        data = (np.frombuffer(value.data, "<u2").astype("<u4") << 16).view("<f4")
    else:
        data = np.frombuffer(value.data, _FLOATS.get(name) or dtype_of(type))
    return np.broadcast_to(data.astype(dtype_of(type)).reshape(-1), _flat(type)).reshape(type.shape)


def _flat(type: RankedTensor) -> tuple[int]:
    return (type.num_elements,)
