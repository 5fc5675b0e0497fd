"""Kinds of builtin attributes that stablehlo's operations ask for."""

from __future__ import annotations

from sdyopt.ir.constraints import I64_ATTR, AttrKind
from sdyopt.ir.elements import DenseElements, element_size
from sdyopt.ir.types import I64, IndexType, IntegerType

POSITIVE_I64: AttrKind[int] = AttrKind(
    f"{I64_ATTR.description} whose value is positive",
    lambda a: I64_ATTR.accepts(a) and I64_ATTR.value(a) > 0,
    I64_ATTR.value,
    I64_ATTR.holds,
)
NON_NEGATIVE_I64: AttrKind[int] = AttrKind(
    f"{I64_ATTR.description} whose value is non-negative",
    lambda a: I64_ATTR.accepts(a) and I64_ATTR.value(a) >= 0,
    I64_ATTR.value,
    I64_ATTR.holds,
)
I64_ELEMENTS: AttrKind[DenseElements] = AttrKind(
    "64-bit signless integer elements attribute",
    lambda a: isinstance(a, DenseElements) and a.type.element is I64,
    lambda a: a,
    lambda a: isinstance(a, DenseElements) and isinstance(a.type.element, IntegerType | IndexType),
)


def integers_of(elements: DenseElements) -> list[int]:
    """The integers that an attribute holds, all of them, as signed numbers."""
    data, size = elements.expanded, element_size(elements.type.element)
    return [int.from_bytes(data[at : at + size], "little", signed=True) for at in range(0, len(data), size)]
