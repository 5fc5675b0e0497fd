"""The stablehlo dialect object, and constraints, checks and text that its operations share.

The `check_…` functions raise a SignatureError if the condition does not hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from sdyopt.base.diagnostics.error_kind import ErrorKind
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.constraints import I64_ATTR, AttrConstraint, non_negative, positive
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.shape_traits import are_compatible_sizes
from sdyopt.mlir.ir.types import I64, IndexType, IntegerType, Type

stablehlo = Dialect("stablehlo")
stablehlo.is_inlinable = True
stablehlo.unknown_attribute = ErrorKind("unknown StableHLO attribute")
stablehlo.unknown_type = ErrorKind("unknown stablehlo type: {mnemonic}")


def quoted(type: Type) -> str:
    """A type in single quotes."""
    return f"'{plain_type(type)}'"


def quoted_all(types: Iterable[Type]) -> str:
    """Quoted types, separated by commas."""
    return ", ".join(map(quoted, types))


def listing(values: Iterable[int]) -> str:
    """Integers separated by commas, without brackets."""
    return ", ".join(map(str, values))


POSITIVE_I64 = positive(I64_ATTR)
NON_NEGATIVE_I64 = non_negative(I64_ATTR)
I64_ELEMENTS: AttrConstraint[DenseElements] = AttrConstraint(
    "64-bit signless integer elements attribute",
    lambda a: isinstance(a, DenseElements) and a.type.element is I64,
    lambda a: a,
    lambda a: isinstance(a, DenseElements) and isinstance(a.type.element, IntegerType | IndexType),
)


def integers_of(elements: DenseElements) -> list[int]:
    """The elements of an integer elements attribute, read as signed; of a splat at most `MAX_EXPANDED`."""
    return list(elements.values)


Dimensions = Sequence[int]


def is_unique(dimensions: Dimensions) -> bool:
    """Whether the dimensions are distinct."""
    return len(set(dimensions)) == len(dimensions)


def is_sorted(dimensions: Dimensions) -> bool:
    """Whether the dimensions are in ascending order; equal neighbors are allowed."""
    return all(a <= b for a, b in pairwise(dimensions))


def are_shapes_compatible(a: Sequence[int], b: Sequence[int]) -> bool:
    """Whether two shapes can be equal at run time: equal ranks, and sizes that are equal or dynamic."""
    return len(a) == len(b) and all(map(are_compatible_sizes, a, b))


def check_distinct(signature: OpSignature, a: Dimensions, b: Dimensions, a_name: str, b_name: str) -> None:
    """Checks that no dimension is in both lists or twice in one."""
    previous = set()
    for dimension in (*a, *b):
        if dimension in previous:
            raise signature.error_without_op_note(
                f"has duplicated dimension from {a_name} and {b_name}: {dimension}"
            )
        previous.add(dimension)


def check_within(
    signature: OpSignature, dimension: int, bound: int, name: str, bound_name: str, is_inclusive: bool = False
) -> None:
    """Checks that a dimension is in [0, bound), or in [0, bound] if `is_inclusive`."""
    if not 0 <= dimension < bound + is_inclusive:
        end = "]" if is_inclusive else ")"
        raise signature.error_without_op_note(
            f"Expects {name} to be in range [0, {bound_name}{end} i.e. [0, {bound}{end}. got: {dimension}."
        )


def check_all_within(
    signature: OpSignature, dimensions: Dimensions, bound: int, name: str, bound_name: str
) -> None:
    """Checks that all dimensions are in [0, bound)."""
    for dimension in dimensions:
        if not 0 <= dimension < bound:
            raise signature.error_without_op_note(
                f"Expects each element of {name} to be in range [0, {bound_name}) i.e. [0, {bound}). "
                f"got: {dimension}."
            )
