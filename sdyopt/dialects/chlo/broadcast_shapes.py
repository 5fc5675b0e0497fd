"""Implicit broadcasting: the shape that operands of different shapes have together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from sdyopt.dialects.stablehlo.bounds import bounds_of, encoding_with
from sdyopt.dialects.stablehlo.type_compatibility import Dimension, dimensions_of
from sdyopt.ir.types import DYNAMIC, RankedTensor, Type, UnrankedTensor

T = TypeVar("T")

_ONE = (1, DYNAMIC)


class Mismatch(NamedTuple):
    """Which operand does not go together with those before it, and why."""

    operand: int
    message: str


def broadcast_type(types: Sequence[Type], element: Type) -> Type:
    """The type that all operands are broadcast to, aligned at the last dimension.

    It has no rank if that of an operand is unknown, or if the shapes do not go together.
    """
    ranked = [type for type in types if isinstance(type, RankedTensor)]
    if len(ranked) != len(types):
        return UnrankedTensor(element)
    if _are_sized(ranked):
        merged = _merged(ranked)
        if isinstance(merged, Mismatch):
            return UnrankedTensor(element)
        shape = tuple(DYNAMIC if bound != DYNAMIC else size for size, bound in merged)
        bounds = [bound for _, bound in merged]
        return RankedTensor(shape, element, encoding_with(None, bounds))
    found: Sequence[int] | None = ranked[0].shape
    for type in ranked:
        found = None if found is None else broadcast_shape(found, type.shape)
    return UnrankedTensor(element) if found is None else RankedTensor(tuple(found), element)


def broadcast_mismatch(types: Sequence[Type]) -> Mismatch | None:
    """Why operands of known sizes do not go together; None if they do, or sizes are unknown."""
    ranked = [type for type in types if isinstance(type, RankedTensor)]
    if len(ranked) != len(types) or not _are_sized(ranked):
        return None
    merged = _merged(ranked)
    return merged if isinstance(merged, Mismatch) else None


def broadcast_along(lhs: Type, rhs: Type, element: Type, dimensions: Sequence[int]) -> Type:
    """The type of two operands, the smaller of which lies along these dimensions of the larger."""
    if not isinstance(lhs, RankedTensor) or not isinstance(rhs, RankedTensor):
        return UnrankedTensor(element)
    large, small = (lhs, rhs) if lhs.rank > rhs.rank else (rhs, lhs)
    if len(dimensions) != small.rank or any(dimension >= large.rank for dimension in dimensions):
        return UnrankedTensor(element)
    sizes = broadcast_shape(small.shape, [large.shape[dimension] for dimension in dimensions])
    if sizes is None:
        return UnrankedTensor(element)
    shape = list(large.shape)
    for dimension, size in zip(dimensions, sizes, strict=True):
        shape[dimension] = size
    return RankedTensor(tuple(shape), element)


def broadcast_shape(left: Sequence[int], right: Sequence[int]) -> list[int] | None:
    """The shape of two, in which an unknown size is taken to fit; None if they do not go together."""
    rank = max(len(left), len(right))
    pairs = zip(_padded(left, rank, 1), _padded(right, rank, 1), strict=True)
    shape = []
    for a, b in pairs:
        known = [size for size in (a, b) if size > 1]
        if DYNAMIC not in (a, b) and a != b and 1 not in (a, b):
            return None
        if DYNAMIC in (a, b):
            shape.append(known[0] if known else DYNAMIC)
        else:
            shape.append(b if a == 1 else a)
    return shape


def _are_sized(types: Sequence[RankedTensor]) -> bool:
    return all(DYNAMIC not in type.shape or bounds_of(type) for type in types)


def _merged(types: Sequence[RankedTensor]) -> list[Dimension] | Mismatch:
    """The sizes and bounds that operands have together."""
    merged = dimensions_of(types[0])
    for number, type in enumerate(types[1:], 1):
        others = dimensions_of(type)
        rank = max(len(merged), len(others))
        dimensions = []
        pairs = list(zip(_padded(merged, rank, _ONE), _padded(others, rank, _ONE), strict=True))
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
