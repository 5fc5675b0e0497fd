"""How many more parts a dimension may be split into, and which axes are given to it for that.

A dimension of capacity 4 takes `"x"`=2 and has 2 left. Of `"y"`=4 it then takes the major half,
`"y":(1)2`, and nothing is left; the other half may find its place in another dimension. An axis
of size 3 it does not take, because sizes have to divide.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sdyopt.dialects.sdy.axes import AxisRef
from sdyopt.sharding.reshard_to_collectives.state import ReshardState
from sdyopt.sharding.reshard_to_collectives.sub_axis_alignment import align, part


class Fit(NamedTuple):
    """What a dimension takes of an axis, what it does not, and the capacity that is left."""

    taken: AxisRef | None
    rest: AxisRef | None
    capacity: int


def fit(state: ReshardState, axis: AxisRef, capacity: int) -> Fit:
    """As much of an axis as a dimension has capacity for: all, its major part, or nothing."""
    size = state.size(axis)
    if capacity <= 1 or (capacity % size and size % capacity):
        return Fit(None, axis, capacity)
    if capacity >= size:
        return Fit(axis, None, capacity // size)
    start = axis.pre_size
    middle = start * capacity
    return Fit(part(axis.name, start, middle), part(axis.name, middle, start * size), 1)


def distribute(
    state: ReshardState,
    capacities: list[int],
    available: Callable[[int], list[AxisRef]],
    major_most: bool,
    took: Callable[[int, AxisRef], None] = lambda dim, axis: None,
) -> None:
    """Gives each dimension, as far as it has capacity, axes of those that are available for it.

    They become extra ones, before those there or behind them. `available(dim)` may be one list for all; what
    is taken is gone from it. Told of every axis is `took`.
    """
    cut: list[AxisRef] = []
    for dim, surplus in enumerate(state.surplus):
        if capacities[dim] <= 1:
            continue
        position = 0 if major_most else len(surplus)
        axes = available(dim)
        kept: list[AxisRef] = []
        for index, axis in enumerate(axes):
            if capacities[dim] <= 1:
                kept.extend(axes[index:])
                break
            taken, rest, capacities[dim] = fit(state, axis, capacities[dim])
            if taken is None:
                kept.append(axis)
                continue
            surplus.insert(position, taken)
            position += 1
            state.in_use.add(taken)
            took(dim, taken)
            if rest is not None:
                cut.append(taken)
                kept.insert(0, rest)
        axes[:] = kept
    align(state.missing, cut, state.mesh)
