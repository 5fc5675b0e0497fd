"""Prints the elements of dense elements attributes and dense arrays."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence

from sdyopt.asm.strings import escape
from sdyopt.ir.elements_attributes import (
    DenseArray,
    DenseElements,
    DenseStringElements,
    element_size,
)
from sdyopt.ir.floats import float_text
from sdyopt.ir.numeric_attributes import can_be_negative
from sdyopt.ir.types import I1, ComplexType, FloatType, IndexType, IntegerType, Type

_ARRAY_CODES = {1: "b", 2: "h", 4: "i", 8: "q"}


def dense_text(attribute: DenseElements, hex_larger_than: int) -> str:
    """The text between `dense<` and `>`, hexadecimal above `hex_larger_than` elements (-1: never)."""
    if not attribute.data:
        return ""
    type = attribute.type
    if attribute.is_splat:
        return _texts(attribute.data, type.element)[0]
    if 0 <= hex_larger_than < type.num_elements:
        return f'"0x{attribute.data.hex().upper()}"'
    return _nested(_texts(attribute.data, type.element), type.shape)


def dense_string_text(attribute: DenseStringElements) -> str:
    """The text between `dense<` and `>`."""
    if not attribute.values:
        return ""
    texts = [f'"{escape(value)}"' for value in attribute.values]
    return texts[0] if attribute.is_splat else _nested(texts, attribute.type.shape)


def dense_array_text(attribute: DenseArray) -> str:
    """The numbers of `array<type: …>`."""
    element = attribute.element
    if isinstance(element, FloatType):
        format = element.format
        return ", ".join([float_text(bits, format) for bits in attribute.values])
    if element is I1:
        return ", ".join(["true" if value else "false" for value in attribute.values])
    return ", ".join(map(str, attribute.values))


def _texts(data: bytes, type: Type) -> list[str]:
    """The text of every element."""
    if isinstance(type, ComplexType):
        parts = _texts(data, type.element)
        return [f"({real},{imaginary})" for real, imaginary in zip(parts[::2], parts[1::2], strict=True)]
    size = element_size(type)
    if isinstance(type, FloatType):
        format = type.format
        mask = (1 << type.width) - 1
        return [float_text(bits & mask, format) for bits in _integers(data, size, is_signed=False)]
    assert isinstance(type, IntegerType | IndexType)
    if type is I1:
        return ["true" if value else "false" for value in data]
    return list(map(str, _integers(data, size, can_be_negative(type))))


def _integers(data: bytes, size: int, is_signed: bool) -> list[int]:
    code = _ARRAY_CODES.get(size)
    if code is None:
        starts = range(0, len(data), size)
        return [int.from_bytes(data[start : start + size], "little", signed=is_signed) for start in starts]
    values = array(code if is_signed else code.upper(), data)
    if sys.byteorder == "big":
        values.byteswap()
    return values.tolist()


def _nested(texts: list[str], shape: Sequence[int]) -> str:
    """The texts in nested brackets, one level per dimension."""
    for size in reversed(shape):
        texts = [f"[{', '.join(texts[start : start + size])}]" for start in range(0, len(texts), size)]
    return texts[0]
