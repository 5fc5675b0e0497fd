"""Collective-permute: replaces and reorders the axes of dimensions, and keeps their sharded sizes."""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.shardy.sharding.reshard_to_collectives.state import (
    ReshardState,
    assign_to_surplus,
    split_by_capacity,
)

# --- When a permute helps ---------------------------------------------------------------------------


def is_permute_useful(state: ReshardState) -> bool:
    """Whether a permute replaces surplus axes, or makes another collective possible."""
    return any(_is_useful_in(state, dim) for dim in range(state.rank)) or _can_replace_axis(state)


def _is_useful_in(state: ReshardState, dim: int) -> bool:
    """Whether missing axes can replace surplus axes of a dimension, or its surplus axes are misordered."""
    surplus, missing = state.surplus[dim], state.missing[dim]
    if surplus and missing and state.sizes_divide(surplus[0], missing[0]):
        return True
    destinations: set[int] = set()
    previous: tuple[int, int] | None = None
    for axis in surplus:
        found = state.destinations.get(axis)
        if found is None:
            if previous is not None and not missing:
                # An axis to gather follows an axis to move, but an all-to-all moves the last axes only.
                return True
            previous = None
            continue
        destination, position = found
        is_next = previous == (destination, position - 1)
        if (destination == dim or destination in destinations) and not is_next:
            # Axes with the same destination are not adjacent, or not in the order of the target.
            return True
        destinations.add(destination)
        previous = found
    return False


def _can_replace_axis(state: ReshardState) -> bool:
    """Whether a missing axis that is not in use can replace an axis to gather."""
    unused = [axis for axes in state.missing for axis in axes if axis not in state.in_use]
    to_gather = list(_axes_to_gather(state))
    return bool(unused and to_gather) and state.sizes_divide(unused[-1], to_gather[-1])


def _axes_to_gather(state: ReshardState) -> Iterator[AxisRef]:
    return (axis for axes in state.surplus for axis in axes if axis not in state.destinations)


# --- The permute ------------------------------------------------------------------------------------


def permute(state: ReshardState) -> None:
    """Replaces the surplus axes of each dimension by axes of the same sharded size.

    In this order: missing axes of the dimension; then missing axes that remain in any dimension, as the last
    surplus axes, which an all-to-all can move; then the old axes that are to be gathered, as the first
    surplus axes, in their old dimension if possible, otherwise in any.
    """
    old_surplus, state.surplus = state.surplus, [[] for _ in state.surplus]
    state.in_use = set()
    capacities = [state.sharded_size(axes) for axes in old_surplus]
    still_missing: list[AxisRef] = []
    to_gather: list[list[AxisRef]] = []
    for dim, axes in enumerate(old_surplus):
        size = capacities[dim]
        state.drop_current(dim, axes)
        capacities[dim] = _assign_missing_axes(state, dim, size)
        still_missing += state.missing[dim]
        gathered_axes = [axis for axis in axes if axis not in state.destinations]
        to_gather.append(_replaced_last(state, gathered_axes, size // capacities[dim]))
    assign_to_surplus(state, capacities, lambda dim: still_missing, major_most=False)
    assign_to_surplus(state, capacities, to_gather.__getitem__, major_most=True)
    unassigned = [axis for axes in to_gather for axis in axes]
    assign_to_surplus(state, capacities, lambda dim: unassigned, major_most=True)
    state.index_destinations()
    for current, surplus in zip(state.current, state.surplus, strict=True):
        for axis in surplus:
            state.append_axis(current, axis)


def _assign_missing_axes(state: ReshardState, dim: int, capacity: int) -> int:
    """Shards a dimension along its first missing axes; returns the remaining capacity."""
    missing = state.missing[dim]
    count = 0
    while capacity > 1 and count < len(missing):
        fitting, rest, capacity = split_by_capacity(state, missing[count], capacity)
        if fitting is None:
            break
        state.append_axis(state.current[dim], fitting)
        if rest is None:
            count += 1
        else:
            missing[count] = rest
    del missing[:count]
    return capacity


def _replaced_last(state: ReshardState, axes: list[AxisRef], replaced_size: int) -> list[AxisRef]:
    """The axes to gather, in the order in which they are assigned.

    The leading axes, up to the sharded size that missing axes have replaced, come last. The other axes are
    assigned first, so that they stay in their dimension.
    """
    replaced: list[AxisRef] = []
    count = 0
    while replaced_size > 1 and count < len(axes):
        fitting, rest, replaced_size = split_by_capacity(state, axes[count], replaced_size)
        if fitting is None:
            break
        replaced.append(fitting)
        if rest is None:
            count += 1
        else:
            axes[count] = rest
    return [*axes[count:], *replaced]
