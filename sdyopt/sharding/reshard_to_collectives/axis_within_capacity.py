"""Assigns axes to dimensions within their capacity.

The capacity of a dimension is how many times larger its sharded size may still become. If `"x"`=2 is assigned
to a dimension of capacity 4, capacity 2 remains. Of `"y"`=4 only the major half, `"y":(1)2`, then fits; no
capacity remains, and the minor half is left for another dimension. An axis of size 3 does not fit, because
sizes must divide.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sdyopt.dialects.sdy.axes import AxisRef
from sdyopt.sharding.reshard_to_collectives.state import ReshardState
from sdyopt.sharding.reshard_to_collectives.sub_axis_alignment import align, sub_axis


class AxisSplit(NamedTuple):
    """The sub-axis that fits into a capacity, the rest of the axis, and the remaining capacity."""

    fitting: AxisRef | None
    rest: AxisRef | None
    capacity: int


def split_by_capacity(state: ReshardState, axis: AxisRef, capacity: int) -> AxisSplit:
    """Splits an axis into what fits into a capacity (all, a major sub-axis, or nothing) and the rest."""
    size = state.size(axis)
    if capacity <= 1 or (capacity % size and size % capacity):
        return AxisSplit(None, axis, capacity)
    if capacity >= size:
        return AxisSplit(axis, None, capacity // size)
    start = axis.pre_size
    middle = start * capacity
    return AxisSplit(sub_axis(axis.name, start, middle), sub_axis(axis.name, middle, start * size), 1)


def assign_to_surplus(
    state: ReshardState,
    capacities: list[int],
    available: Callable[[int], list[AxisRef]],
    major_most: bool,
    on_assigned: Callable[[int, AxisRef], None] = lambda dim, axis: None,
) -> None:
    """Assigns available axes to the surplus of each dimension, within its capacity.

    The assigned axes become the major-most or minor-most surplus axes, and are removed from `available(dim)`,
    which may return the same list for all dimensions. `on_assigned` is called for each assigned axis.
    """
    split_axes: list[AxisRef] = []
    for dim, surplus in enumerate(state.surplus):
        position = 0 if major_most else len(surplus)
        axes = available(dim)
        unassigned: list[AxisRef] = []
        for axis in axes:
            fitting, rest, capacities[dim] = split_by_capacity(state, axis, capacities[dim])
            if fitting is None:
                unassigned.append(axis)
                continue
            surplus.insert(position, fitting)
            position += 1
            state.in_use.add(fitting)
            on_assigned(dim, fitting)
            if rest is not None:
                split_axes.append(fitting)
                unassigned.insert(0, rest)
        axes[:] = unassigned
    align(state.missing, split_axes, state.mesh)
