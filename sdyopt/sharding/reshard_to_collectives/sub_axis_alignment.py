"""Cutting axes into sub-axes, so that two lists of them speak of the same parts.

`"a":(1)8` on one side and `"a":(4)4` on the other are both made of `"a":(1)4`, `"a":(4)2` and `"a":(8)2`.
Cut that far, any two parts are either equal or apart, and can be looked up in a dict.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from sdyopt.dialects.sdy.axes import AxisRef, SubAxis
from sdyopt.dialects.sdy.mesh import Mesh


def align(dims: Sequence[list[AxisRef]], others: Iterable[AxisRef], mesh: Mesh) -> None:
    """Cuts the axes of each dimension where one of `others` begins or ends in the middle of them."""
    ordered = sorted(others, key=_order)
    if not ordered:
        return
    keys = [_order(axis) for axis in ordered]
    for axes in dims:
        axes[:] = [part for axis in axes for part in _cut(axis, ordered, keys, mesh)]


def part(axis: str, start: int, end: int) -> AxisRef:
    """What lies between two places of an axis, and is not all of it."""
    return AxisRef(axis, SubAxis(start, end // start))


def _order(axis: AxisRef) -> tuple[str, int, int]:
    return axis.name, axis.pre_size, axis.reach


def _cut(
    axis: AxisRef, others: Sequence[AxisRef], keys: Sequence[tuple[str, int, int]], mesh: Mesh
) -> list[AxisRef]:
    """The parts of an axis that lie in one of `others`, which are in order, or in none."""
    index = bisect_left(keys, _order(axis))
    if index > 0 and axis.overlaps(others[index - 1]):
        index -= 1
    parts: list[AxisRef] = []
    while index < len(others) and _cuts(others[index], axis):
        other = others[index]
        start, end = axis.pre_size, axis.next_pre_size(mesh)
        other_start, other_end = other.pre_size, other.next_pre_size(mesh)
        if start < other_start:
            parts.append(part(axis.name, start, other_start))
        parts.append(part(axis.name, max(start, other_start), min(end, other_end)))
        if end <= other_end:
            return parts
        axis = part(axis.name, other_end, end)
        index += 1
    return [*parts, axis]


def _cuts(other: AxisRef, axis: AxisRef) -> bool:
    """Whether a part of an axis lies in another one, but not all of it."""
    return other.overlaps(axis) and not other.contains(axis) and other.can_coexist(axis)
