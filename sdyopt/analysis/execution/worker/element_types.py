"""Element types of MLIR as types of numpy, and how far results may differ."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
DType = np.dtype[Any]

_NAMES = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "i1": np.bool_,
    "complex<f32>": np.complex64,
    "complex<f64>": np.complex128,
    **{f"i{bits}": getattr(np, f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"ui{bits}": getattr(np, f"uint{bits}") for bits in (8, 16, 32, 64)},
}
# The names that ml_dtypes has for the rest; a version may lack some.
_SMALL = {"i2": "int2", "i4": "int4", "ui2": "uint2", "ui4": "uint4"}
_FLOATS = (
    *("f8E4M3FN", "f8E5M2", "f8E4M3B11FNUZ", "f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3", "f8E3M4"),
    *("f4E2M1FN", "f8E8M0FNU"),
)


def numpy_type(element: str) -> DType | None:
    """The type of numpy; None if there is none."""
    found = _NAMES.get(element)
    if found is None and element in _SMALL:
        found = getattr(ml_dtypes, _SMALL[element], None)
    if found is None and element in _FLOATS:
        found = getattr(ml_dtypes, f"float{element[1]}_{element[2:].lower()}", None)
    return None if found is None else np.dtype(found)


def is_exact(dtype: DType) -> bool:
    """Whether numbers of this type are not rounded."""
    return dtype.kind in "biu" or dtype.name in _SMALL.values()


def limit(dtype: DType) -> float:
    """How far a result may differ, relative to its largest element."""
    if is_exact(dtype):
        return 0.0
    size = dtype.itemsize // 2 if dtype.kind == "c" else dtype.itemsize
    return {8: 1e-9, 4: 2e-5}.get(size, 2e-2)


def wide(array: Array) -> Array:
    """The numbers in a type in which differences can be computed."""
    if array.dtype.kind == "c":
        return array.astype(np.complex128)
    if is_exact(array.dtype):
        # Python's integers: no difference of 64-bit integers may overflow or be rounded.
        return array.astype(np.int64 if array.dtype.itemsize < 8 else object)
    return array.astype(np.float64)
