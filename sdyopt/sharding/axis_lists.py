"""Lists of axes as propagation compares them: prefixes, and what is left beside other axes.

A list says how something is split, major to minor, so that `"x", "y":(1)2` is the beginning of
`"x", "y", "z"`: the last axis of a beginning may be the major part of the axis in its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

from sdyopt.dialects.sdy.axes import AxisRef, SubAxis
from sdyopt.dialects.sdy.mesh import Mesh

Axes = tuple[AxisRef, ...]


def sharded_size(axes: Iterable[AxisRef], mesh: Mesh) -> int:
    """Into how many parts axes split something."""
    return prod([axis.size(mesh) for axis in axes])


def is_axis_prefix(axis: AxisRef, other: AxisRef) -> bool:
    """Whether `other` starts with `axis`, or is the same."""
    return other.contains(axis) and axis.pre_size == other.pre_size


def is_prefix(first: Sequence[AxisRef], second: Sequence[AxisRef]) -> bool:
    """Whether `second` is `first` and perhaps more."""
    if not first:
        return True
    last = len(first) - 1
    return last < len(second) and first[:last] == second[:last] and is_axis_prefix(first[last], second[last])


def is_strict_prefix(first: Axes, second: Axes) -> bool:
    """Whether `second` is `first` and more."""
    return first != second and is_prefix(first, second)


def common_prefix(first: Sequence[AxisRef], second: Sequence[AxisRef]) -> Axes:
    """The longest list with which both start."""
    found = []
    for axis, other in zip(first, second, strict=False):
        if axis is not other:
            if is_axis_prefix(axis, other):
                found.append(axis)
            elif is_axis_prefix(other, axis):
                found.append(other)
            break
        found.append(axis)
    return tuple(found)


def prefix_without(axis: AxisRef, others: Iterable[AxisRef]) -> AxisRef | None:
    """The longest major part of an axis that overlaps none of others; None if there is none."""
    found: AxisRef | None = axis
    for other in others:
        if found is None:
            return None
        if found.name == other.name:
            found = found.prefix_without(other)
    return found


def prefix_without_overlap(axes: Axes, others: Sequence[AxisRef]) -> Axes:
    """The longest beginning of a list that overlaps none of others."""
    names = {axis.name for axis in others}
    for position, axis in enumerate(axes):
        if axis.name not in names:
            continue
        prefix = prefix_without(axis, others)
        if prefix is not axis:
            return axes[:position] if prefix is None else (*axes[:position], prefix)
    return axes


def overlap(axes: Iterable[AxisRef], others: Sequence[AxisRef]) -> bool:
    """Whether an axis of one list overlaps one of another."""
    return any(axis.overlaps(other) for axis in axes for other in others)


def major_sub_axis(axis: AxisRef, size: int) -> AxisRef:
    """The part of an axis that has this size and starts where it starts; smaller than the axis."""
    return AxisRef(axis.name, SubAxis(axis.pre_size, size))


def split_axis(axis: AxisRef, major_size: int, size: int) -> tuple[AxisRef, AxisRef]:
    """The two parts of an axis of some size, of which the major one has `major_size`."""
    minor = SubAxis(axis.pre_size * major_size, size // major_size)
    return major_sub_axis(axis, major_size), AxisRef(axis.name, minor)
