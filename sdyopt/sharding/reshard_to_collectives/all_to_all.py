"""All-to-alls: axes stop sharding one dimension and shard another one instead."""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.dialects.sdy.axes import AxisRef
from sdyopt.dialects.sdy.axis_lists import AllToAllParam, AllToAllParams
from sdyopt.sharding.reshard_to_collectives.state import ReshardState


def moves(state: ReshardState, in_order: bool) -> Iterator[AllToAllParams]:
    """Makes the moves that bring axes to dimensions that lack them, one at a time.

    In order are those whose axes are just what the dimension lacks next. They are made before others: so
    moves from several dimensions to one come in the order that leaves nothing to permute.
    """
    for source in range(state.rank):
        while (move := _move(state, source, in_order)) is not None:
            yield AllToAllParams((move,))


def _move(state: ReshardState, source: int, in_order: bool) -> AllToAllParam | None:
    """Moves as many axes from the end of a dimension as go to the same other one."""
    surplus = state.surplus[source]
    target, count = _common_destination(state, source)
    if target is None:
        return None
    axes, missing = surplus[len(surplus) - count :], state.missing[target]
    if in_order and axes != missing[:count]:
        return None
    state.drop_current(source, axes)
    del surplus[len(surplus) - count :]
    moved: list[AxisRef] = []
    arrived = 0
    for axis in axes:
        state.add(moved, axis)
        state.add(state.current[target], axis)
        if not state.surplus[target] and arrived < len(missing) and missing[arrived] is axis:
            state.in_use.discard(axis)
            arrived += 1
        else:
            state.in_use.add(axis)
            state.surplus[target].append(axis)
    del missing[:arrived]
    return AllToAllParam(tuple(moved), source, target)


def _common_destination(state: ReshardState, source: int) -> tuple[int | None, int]:
    """The other dimension to which axes at the end of a dimension go, and how many of them."""
    target: int | None = None
    count = 0
    for axis in reversed(state.surplus[source]):
        goal = state.destination(axis)
        if goal is None or goal == source or (target is not None and goal != target):
            break
        target = goal
        count += 1
    return target, count
