"""Integer and float attributes."""

from __future__ import annotations

from sdyopt.ir.attribute import Attribute, Type
from sdyopt.ir.types import I1, INDEX_WIDTH, FloatType, IndexType, IntegerType


class IntegerAttr(Attribute):
    """`3 : i64`, `true`: an integer of integer or index type.

    `value` is in the range of a signed integer of the type's width or, for unsigned types and `i1`, of an
    unsigned one. `integer(…)` wraps any number into that range.
    """

    value: int
    type: IntegerType | IndexType


class FloatAttr(Attribute):
    """`1.0 : f32`: a floating-point number, stored as its bit pattern."""

    bits: int
    type: FloatType


def integer(value: int, type: Type) -> IntegerAttr:
    """The attribute `value : type`, wrapped to the width of the type."""
    assert isinstance(type, IntegerType | IndexType)
    return IntegerAttr(wrapped(value, type), type)


def boolean(value: bool) -> IntegerAttr:
    """The attribute `true` or `false`."""
    return TRUE if value else FALSE


def integer_width(type: IntegerType | IndexType) -> int:
    """The width of an integer or index type in bits."""
    return type.width if isinstance(type, IntegerType) else INDEX_WIDTH


def wrapped(value: int, type: IntegerType | IndexType) -> int:
    """`value` wrapped into the range of `type`."""
    width = integer_width(type)
    value &= (1 << width) - 1
    if not can_be_negative(type) or not value >> (width - 1) & 1:
        return value
    return value - (1 << width)


def can_be_negative(type: IntegerType | IndexType) -> bool:
    """Whether attributes of this type can be negative: not those of `ui8`, `i1` or `i0`."""
    if isinstance(type, IndexType):
        return True
    return type.width > 0 and not type.is_unsigned and type is not I1


TRUE = IntegerAttr(1, I1)
FALSE = IntegerAttr(0, I1)
