"""Aligns two lists of axes, so that sub-axes that can coexist are either equal or disjoint.

With `"a":(1)8` in one list and `"a":(4)4` in the other, the first is split into `"a":(1)4` and `"a":(4)2`,
the second into `"a":(4)2` and `"a":(8)2`. Aligned sub-axes can be compared by identity, and looked up in a
dict.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from sdyopt.dialects.sdy.axes import AxisRef, SubAxis
from sdyopt.dialects.sdy.mesh import Mesh


def align(dims: Sequence[list[AxisRef]], others: Iterable[AxisRef], mesh: Mesh) -> None:
    """Splits the axes of each dimension where one of `others` starts or ends inside an axis."""
    ordered = sorted(others, key=lambda axis: axis.sort_key)
    if not ordered:
        return
    keys = [axis.sort_key for axis in ordered]
    for axes in dims:
        axes[:] = [aligned for axis in axes for aligned in _split(axis, ordered, keys, mesh)]


def sub_axis(name: str, pre_size: int, next_pre_size: int) -> AxisRef:
    """The sub-axis from one pre-size up to another."""
    return AxisRef(name, SubAxis(pre_size, next_pre_size // pre_size))


def _split(
    axis: AxisRef, others: Sequence[AxisRef], keys: Sequence[tuple[str, int, int]], mesh: Mesh
) -> list[AxisRef]:
    """The sub-axes of an axis, each contained in one of the sorted `others` or disjoint from all of them."""
    index = bisect_left(keys, axis.sort_key)
    if index > 0 and axis.overlaps(others[index - 1]):
        index -= 1
    sub_axes: list[AxisRef] = []
    while index < len(others) and _must_split(axis, others[index]):
        other = others[index]
        start, end = axis.pre_size, axis.next_pre_size(mesh)
        other_start, other_end = other.pre_size, other.next_pre_size(mesh)
        if start < other_start:
            sub_axes.append(sub_axis(axis.name, start, other_start))
        sub_axes.append(sub_axis(axis.name, max(start, other_start), min(end, other_end)))
        if end <= other_end:
            return sub_axes
        axis = sub_axis(axis.name, other_end, end)
        index += 1
    return [*sub_axes, axis]


def _must_split(axis: AxisRef, other: AxisRef) -> bool:
    """Whether another axis overlaps an axis without containing it, and can coexist with it."""
    return other.overlaps(axis) and not other.contains(axis) and other.can_coexist(axis)
