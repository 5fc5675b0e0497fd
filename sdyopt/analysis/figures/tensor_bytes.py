"""The bytes of a value on one device, from its type and local shape.

An `i1` takes one byte, other types below 8 bits are packed, a quantized type takes as much as its storage
type, and a token takes nothing. The size of a value with a dynamic shape is unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from sdyopt.mlir.dialects.quant import QuantizedType
from sdyopt.mlir.dialects.stablehlo.types import TokenType
from sdyopt.mlir.ir.types import (
    DYNAMIC,
    INDEX_WIDTH,
    ComplexType,
    FloatType,
    IndexType,
    IntegerType,
    RankedShapedType,
    TupleType,
    Type,
)


def element_bits(type: Type) -> int | None:
    """Bits of one element; None if the type has no known size."""
    if isinstance(type, IntegerType):
        return 8 if type.width == 1 else _storage_bits(type.width)
    if isinstance(type, FloatType):
        return _storage_bits(type.width)
    if isinstance(type, ComplexType):
        part = element_bits(type.element)
        return None if part is None else 2 * part
    if isinstance(type, QuantizedType):
        return element_bits(type.storage)
    return INDEX_WIDTH if isinstance(type, IndexType) else None


def _storage_bits(width: int) -> int:
    return width if width < 8 else -(-width // 8) * 8


def bytes_of(type: Type, local_shape: Sequence[int] | None = None) -> int | None:
    """Bytes of a value of this type, with `local_shape` in place of its shape if given; None if unknown."""
    if isinstance(type, TokenType):
        return 0
    if isinstance(type, TupleType):
        parts = [bytes_of(part) for part in type.types]
        known = [part for part in parts if part is not None]
        return sum(known) if len(known) == len(parts) else None
    if not isinstance(type, RankedShapedType):
        bits = element_bits(type)
        return None if bits is None else -(-bits // 8)
    shape = type.shape if local_shape is None else local_shape
    bits = element_bits(type.element)
    if bits is None or DYNAMIC in shape:
        return None
    return -(-bits * prod(shape) // 8)
