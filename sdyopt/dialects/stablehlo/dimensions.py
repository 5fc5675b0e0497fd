"""What operations ask about their dimension numbers and sizes, with the words for what is wrong.

The `check_…` functions raise where the form breaks the rule they are named after.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.shape_traits import are_compatible_sizes

Dimensions = Sequence[int]


def is_unique(dimensions: Dimensions) -> bool:
    """Whether no dimension is named twice."""
    return len(set(dimensions)) == len(dimensions)


def is_sorted(dimensions: Dimensions) -> bool:
    """Whether the dimensions ascend; equal neighbours are fine."""
    return all(a <= b for a, b in pairwise(dimensions))


def are_shapes_compatible(a: Dimensions, b: Dimensions) -> bool:
    """Whether two tensors may have the same shape when the program runs."""
    return len(a) == len(b) and all(map(are_compatible_sizes, a, b))


def listing(values: Sequence[int]) -> str:
    """Numbers as messages list them."""
    return ", ".join(map(str, values))


def check_distinct(signature: OpSignature, a: Dimensions, b: Dimensions, a_name: str, b_name: str) -> None:
    """No dimension is in both lists, or twice in one."""
    seen = set()
    for dimension in (*a, *b):
        if dimension in seen:
            raise signature.located_error(f"has duplicated dimension from {a_name} and {b_name}: {dimension}")
        seen.add(dimension)


def check_within(
    signature: OpSignature, dimension: int, bound: int, name: str, bound_name: str, is_inclusive: bool = False
) -> None:
    """One dimension lies below `bound`, or at it if that is inclusive."""
    if not 0 <= dimension < bound + is_inclusive:
        end = "]" if is_inclusive else ")"
        raise signature.located_error(
            f"Expects {name} to be in range [0, {bound_name}{end} i.e. [0, {bound}{end}. got: {dimension}."
        )


def check_all_within(
    signature: OpSignature, dimensions: Dimensions, bound: int, name: str, bound_name: str
) -> None:
    """All dimensions lie below `bound`."""
    for dimension in dimensions:
        if not 0 <= dimension < bound:
            raise signature.located_error(
                f"Expects each element of {name} to be in range [0, {bound_name}) i.e. [0, {bound}). "
                f"got: {dimension}."
            )
