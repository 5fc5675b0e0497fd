"""Lists of axes: sharded sizes, prefixes and overlaps.

A list is ordered major to minor. `"x", "y":(1)2` is a prefix of `"x", "y", "z"`: the last axis of a prefix
may be a major-most sub-axis of the axis at the same position.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

from sdyopt.mlir.dialects.sdy.axes import AxisRef, SubAxis
from sdyopt.mlir.dialects.sdy.mesh import Mesh

Axes = tuple[AxisRef, ...]


def sharded_size(axes: Iterable[AxisRef], mesh: Mesh) -> int:
    """The product of the sizes of axes: the number of shards along them."""
    return prod([axis.size(mesh) for axis in axes])


def is_axis_prefix(axis: AxisRef, other: AxisRef) -> bool:
    """Whether `axis` is `other` or a major-most sub-axis of it."""
    return other.contains(axis) and axis.pre_size == other.pre_size


def is_prefix(first: Sequence[AxisRef], second: Sequence[AxisRef]) -> bool:
    """Whether `first` is a prefix of `second`, or equal to it."""
    if not first:
        return True
    last = len(first) - 1
    return last < len(second) and first[:last] == second[:last] and is_axis_prefix(first[last], second[last])


def is_strict_prefix(first: Axes, second: Axes) -> bool:
    """Whether `first` is a prefix of `second`, and not equal to it."""
    return first != second and is_prefix(first, second)


def common_prefix(first: Sequence[AxisRef], second: Sequence[AxisRef]) -> Axes:
    """The longest list that is a prefix of both."""
    common = []
    for axis, other in zip(first, second, strict=False):
        if axis is not other:
            if is_axis_prefix(axis, other):
                common.append(axis)
            elif is_axis_prefix(other, axis):
                common.append(other)
            break
        common.append(axis)
    return tuple(common)


def axes_after(prefix: Axes, axes: Axes) -> Axes:
    """The rest of `axes`, from the first axis that `prefix` does not contain at the same position.

    If `prefix` contains only a major-most sub-axis of this axis, the rest has the whole axis.
    """
    for position, axis in enumerate(axes):
        if position >= len(prefix) or not is_axis_prefix(axis, prefix[position]):
            return axes[position:]
    return ()


def prefix_without(axis: AxisRef, others: Iterable[AxisRef]) -> AxisRef | None:
    """The largest prefix of an axis that overlaps none of `others`; None if it is empty.

    None also if the axis cannot coexist with one of `others`.
    """
    prefix: AxisRef | None = axis
    for other in others:
        if prefix is None:
            return None
        if prefix.name == other.name:
            prefix = prefix.prefix_without_overlap(other)
    return prefix


def prefix_without_overlap(axes: Axes, others: Sequence[AxisRef]) -> Axes:
    """The longest prefix of a list that overlaps none of `others`."""
    names = {axis.name for axis in others}
    for position, axis in enumerate(axes):
        if axis.name not in names:
            continue
        prefix = prefix_without(axis, others)
        if prefix is not axis:
            return axes[:position] if prefix is None else (*axes[:position], prefix)
    return axes


def overlap(axes: Iterable[AxisRef], others: Sequence[AxisRef]) -> bool:
    """Whether an axis of one list overlaps an axis of the other."""
    return any(axis.overlaps(other) for axis in axes for other in others)


def major_sub_axis(axis: AxisRef, size: int) -> AxisRef:
    """The major-most sub-axis of a size that is smaller than the size of the axis."""
    return AxisRef(axis.name, SubAxis(axis.pre_size, size))


def split_axis(axis: AxisRef, major_size: int, size: int) -> tuple[AxisRef, AxisRef]:
    """Splits an axis of size `size` into its major-most sub-axis of size `major_size` and the rest."""
    minor = SubAxis(axis.pre_size * major_size, size // major_size)
    return major_sub_axis(axis, major_size), AxisRef(axis.name, minor)
