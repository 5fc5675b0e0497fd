"""Constraints on builtin attributes of stablehlo operations, and the integers of elements attributes."""

from __future__ import annotations

from sdyopt.mlir.ir.builtin_attributes import DenseElements, element_size
from sdyopt.mlir.ir.constraints import I64_ATTR, AttrConstraint, non_negative, positive
from sdyopt.mlir.ir.types import I64, IndexType, IntegerType

POSITIVE_I64 = positive(I64_ATTR)
NON_NEGATIVE_I64 = non_negative(I64_ATTR)
I64_ELEMENTS: AttrConstraint[DenseElements] = AttrConstraint(
    "64-bit signless integer elements attribute",
    lambda a: isinstance(a, DenseElements) and a.type.element is I64,
    lambda a: a,
    lambda a: isinstance(a, DenseElements) and isinstance(a.type.element, IntegerType | IndexType),
)


# The number of elements to which a splat is expanded. Operations compare the length of the list with a rank,
# or twice a rank, or reject equal elements; for both, this many elements are enough.
MAX_EXPANDED = 1 << 17


def integers_of(elements: DenseElements) -> list[int]:
    """The elements of an integer elements attribute, read as signed; of a splat at most `MAX_EXPANDED`."""
    data, size = elements.data, element_size(elements.type.element)
    offsets = range(0, len(data), size)
    found = [int.from_bytes(data[offset : offset + size], "little", signed=True) for offset in offsets]
    return found * min(elements.type.num_elements, MAX_EXPANDED) if elements.is_splat else found
