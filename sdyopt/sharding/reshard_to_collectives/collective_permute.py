"""Collective permutes: every device sends its chunk to another one, so that other axes shard the tensor."""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.dialects.sdy.axes import AxisRef
from sdyopt.sharding.reshard_to_collectives.axis_within_capacity import distribute, fit
from sdyopt.sharding.reshard_to_collectives.state import ReshardState

# --- Whether ----------------------------------------------------------------------------------------


def helps(state: ReshardState) -> bool:
    """Whether a permute brings the tensor nearer to its target."""
    return any(_helps_in(state, dim) for dim in range(state.rank)) or _can_replace(state)


def _helps_in(state: ReshardState, dim: int) -> bool:
    """Whether a dimension has axes in place of which missing ones can stand, or in the wrong order."""
    surplus, missing = state.surplus[dim], state.missing[dim]
    if surplus and missing and state.divide(surplus[0], missing[0]):
        return True
    seen: set[int] = set()
    last: int | None = None
    last_position = 0
    for axis in surplus:
        found = state.destinations.get(axis)
        if found is None:
            if last is not None and not missing:
                # To be gathered, but behind one that is to move away, and only the end can move.
                return True
            last = None
            continue
        goal, position = found
        follows = goal == last and position == last_position + 1
        if (goal == dim or goal in seen) and not follows:
            # Those that go to one dimension stand apart, or in an order that is not the one there.
            return True
        seen.add(goal)
        last, last_position = goal, position
    return False


def _can_replace(state: ReshardState) -> bool:
    """Whether an axis that is to be gathered can be replaced by a free one that is missing."""
    free = [axis for axes in state.missing for axis in axes if axis not in state.in_use]
    surplus = list(_replaceable(state))
    return bool(free and surplus) and state.divide(free[-1], surplus[-1])


def _replaceable(state: ReshardState) -> Iterator[AxisRef]:
    return (axis for axes in state.surplus for axis in axes if axis not in state.destinations)


# --- How --------------------------------------------------------------------------------------------


def permute(state: ReshardState) -> None:
    """Shards every dimension into as many parts as before, by the axes that serve the target best.

    In this order: missing axes go where they belong; those left over anywhere, at the end, where an
    all-to-all can take them away; what was there and is to be gathered, at the front, in its old dimension
    if possible and then anywhere.
    """
    # What is to be split anew.
    old, state.surplus = state.surplus, [[] for _ in state.surplus]
    state.in_use = set()
    capacities = [state.sharded_size(axes) for axes in old]
    homeless: list[AxisRef] = []
    replaced: list[list[AxisRef]] = []
    for dim, axes in enumerate(old):
        before = capacities[dim]
        state.drop_current(dim, axes)
        capacities[dim] = _put_in_place(state, dim, before)
        homeless += state.missing[dim]
        surplus = [axis for axis in axes if axis not in state.destinations]
        replaced.append(_last_first(state, surplus, before // capacities[dim]))
    distribute(state, capacities, lambda dim: homeless, major_most=False)
    distribute(state, capacities, replaced.__getitem__, major_most=True)
    anywhere = [axis for axes in replaced for axis in axes]
    distribute(state, capacities, lambda dim: anywhere, major_most=True)
    state.index_destinations()
    for current, surplus in zip(state.current, state.surplus, strict=True):
        for axis in surplus:
            state.add(current, axis)


def _put_in_place(state: ReshardState, dim: int, capacity: int) -> int:
    """Shards a dimension along its first missing axes; the capacity that is left."""
    missing = state.missing[dim]
    count = 0
    while capacity > 1 and count < len(missing):
        taken, rest, capacity = fit(state, missing[count], capacity)
        if taken is None:
            break
        state.add(state.current[dim], taken)
        if rest is None:
            count += 1
        else:
            missing[count] = rest
    del missing[:count]
    return capacity


def _last_first(state: ReshardState, axes: list[AxisRef], used: int) -> list[AxisRef]:
    """Axes with those at the end that missing axes have replaced: the first ones, up to a size of `used`.

    What keeps its place comes first, and so will be put back there.
    """
    replaced: list[AxisRef] = []
    count = 0
    while used > 1 and count < len(axes):
        taken, rest, used = fit(state, axes[count], used)
        if taken is None:
            break
        replaced.append(taken)
        if rest is None:
            count += 1
        else:
            axes[count] = rest
    return [*axes[count:], *replaced]
