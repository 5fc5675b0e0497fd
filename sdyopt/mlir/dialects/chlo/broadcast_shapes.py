"""Implicit broadcasting: the shape that operands are broadcast to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from sdyopt.mlir.dialects.stablehlo.bounds import bounds_of, encoding_with
from sdyopt.mlir.dialects.stablehlo.type_compatibility import Dimension, dimensions_of
from sdyopt.mlir.ir.types import DYNAMIC, RankedTensor, Type, UnrankedTensor

T = TypeVar("T")

# A dimension of size 1, without a bound.
_UNIT_DIMENSION = (1, DYNAMIC)


class Mismatch(NamedTuple):
    """The index of the first operand that is incompatible with the operands before it, and the message."""

    operand: int
    message: str


def broadcast_type(types: Sequence[Type], element: Type) -> Type:
    """The type that all operands are broadcast to, aligned at the last dimension.

    It is unranked if an operand is unranked or the shapes are incompatible.
    """
    ranked = [type for type in types if isinstance(type, RankedTensor)]
    if len(ranked) != len(types):
        return UnrankedTensor(element)
    if _are_static_or_bounded(ranked):
        merged = _merge_dimensions(ranked)
        if isinstance(merged, Mismatch):
            return UnrankedTensor(element)
        shape = tuple(DYNAMIC if bound != DYNAMIC else size for size, bound in merged)
        bounds = [bound for _, bound in merged]
        return RankedTensor(shape, element, encoding_with(None, bounds))
    common: Sequence[int] | None = ranked[0].shape
    for type in ranked:
        common = None if common is None else broadcast_shape(common, type.shape)
    return UnrankedTensor(element) if common is None else RankedTensor(tuple(common), element)


def broadcast_mismatch(types: Sequence[Type]) -> Mismatch | None:
    """The first mismatch, if any; None if an operand is unranked or has dynamic sizes without bounds."""
    ranked = [type for type in types if isinstance(type, RankedTensor)]
    if len(ranked) != len(types) or not _are_static_or_bounded(ranked):
        return None
    merged = _merge_dimensions(ranked)
    return merged if isinstance(merged, Mismatch) else None


def broadcast_along(lhs: Type, rhs: Type, element: Type, dimensions: Sequence[int]) -> Type:
    """The type that two operands are broadcast to along `broadcast_dimensions`.

    `dimensions` maps the dimensions of the operand of lower rank (lhs if the ranks are equal) to those of the
    other operand. The type is unranked if an operand is unranked or the mapping or the shapes are invalid.
    """
    if not isinstance(lhs, RankedTensor) or not isinstance(rhs, RankedTensor):
        return UnrankedTensor(element)
    large, small = (lhs, rhs) if lhs.rank > rhs.rank else (rhs, lhs)
    if len(dimensions) != small.rank or not all(0 <= dimension < large.rank for dimension in dimensions):
        return UnrankedTensor(element)
    sizes = broadcast_shape(small.shape, [large.shape[dimension] for dimension in dimensions])
    if sizes is None:
        return UnrankedTensor(element)
    shape = list(large.shape)
    for dimension, size in zip(dimensions, sizes, strict=True):
        shape[dimension] = size
    return RankedTensor(tuple(shape), element)


def broadcast_shape(left: Sequence[int], right: Sequence[int]) -> list[int] | None:
    """The shape that two shapes are broadcast to, or None if static sizes are incompatible."""
    rank = max(len(left), len(right))
    pairs = zip(_padded(left, rank, 1), _padded(right, rank, 1), strict=True)
    shape = []
    for a, b in pairs:
        static = [size for size in (a, b) if size > 1]
        if DYNAMIC not in (a, b) and a != b and 1 not in (a, b):
            return None
        if DYNAMIC in (a, b):
            shape.append(static[0] if static else DYNAMIC)
        else:
            shape.append(b if a == 1 else a)
    return shape


def _are_static_or_bounded(types: Sequence[RankedTensor]) -> bool:
    return all(DYNAMIC not in type.shape or bounds_of(type) for type in types)


def _merge_dimensions(types: Sequence[RankedTensor]) -> list[Dimension] | Mismatch:
    """The (size, bound) of each dimension of the broadcast shape, or the first mismatch."""
    merged = dimensions_of(types[0])
    for number, type in enumerate(types[1:], 1):
        others = dimensions_of(type)
        rank = max(len(merged), len(others))
        dimensions = []
        pairs = list(zip(*(_padded(each, rank, _UNIT_DIMENSION) for each in (merged, others)), strict=True))
        for left, right in reversed(pairs):
            sizes = [size if bound == DYNAMIC else bound for size, bound in (left, right)]
            if 1 in sizes:
                dimensions.append(right if sizes[0] == 1 else left)
                continue
            if sizes[0] != sizes[1]:
                return Mismatch(number, f"incompatible shapes for broadcasting {sizes[0]} and {sizes[1]}")
            if left != right:
                return Mismatch(number, "cannot mix bounded and static dimensions in broadcast")
            dimensions.append(left)
        merged = dimensions[::-1]
    return merged


def _padded(values: Sequence[T], count: int, filler: T) -> list[T]:
    return [filler] * (count - len(values)) + list(values)
