"""Constraints on builtin attributes of stablehlo operations, and the integers of elements attributes."""

from __future__ import annotations

from sdyopt.ir.constraints import I64_ATTR, AttrConstraint, non_negative, positive
from sdyopt.ir.elements_attributes import DenseElements, element_size
from sdyopt.ir.types import I64, IndexType, IntegerType

POSITIVE_I64 = positive(I64_ATTR)
NON_NEGATIVE_I64 = non_negative(I64_ATTR)
I64_ELEMENTS: AttrConstraint[DenseElements] = AttrConstraint(
    "64-bit signless integer elements attribute",
    lambda a: isinstance(a, DenseElements) and a.type.element is I64,
    lambda a: a,
    lambda a: isinstance(a, DenseElements) and isinstance(a.type.element, IntegerType | IndexType),
)


def integers_of(elements: DenseElements) -> list[int]:
    """All elements of an integer elements attribute, splats expanded, read as signed."""
    data, size = elements.expanded, element_size(elements.type.element)
    offsets = range(0, len(data), size)
    return [int.from_bytes(data[offset : offset + size], "little", signed=True) for offset in offsets]
