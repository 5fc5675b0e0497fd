"""All-to-all: moves axes from one dimension to another."""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.mlir.dialects.sdy.axes import AllToAllParam, AllToAllParams, AxisRef
from sdyopt.shardy.sharding.reshard_to_collectives.state import ReshardState


def move_axes(state: ReshardState, in_order: bool) -> Iterator[AllToAllParams]:
    """Moves surplus axes to the dimensions that lack them, one all-to-all at a time.

    With `in_order`, axes move only if they are the first missing axes of their destination. The plan does
    this first, so that axes from several dimensions arrive in the order of the target and need no permute.
    """
    for source in range(state.rank):
        while (param := _move_from(state, source, in_order)) is not None:
            yield AllToAllParams((param,))


def _move_from(state: ReshardState, source: int, in_order: bool) -> AllToAllParam | None:
    """Moves the last surplus axes of a dimension, as many as have the same destination."""
    surplus = state.surplus[source]
    target, count = _common_destination(state, source)
    if target is None or (source in state.padded and count < len(surplus)):
        return None
    axes, missing = surplus[len(surplus) - count :], state.missing[target]
    if in_order and axes != missing[:count]:
        return None
    state.drop_current(source, axes)
    del surplus[len(surplus) - count :]
    moved: list[AxisRef] = []
    final_count = 0
    for axis in axes:
        state.append_axis(moved, axis)
        state.append_axis(state.current[target], axis)
        if not state.surplus[target] and final_count < len(missing) and missing[final_count] is axis:
            state.in_use.discard(axis)
            final_count += 1
        else:
            state.in_use.add(axis)
            state.surplus[target].append(axis)
    del missing[:final_count]
    return AllToAllParam(tuple(moved), source, target)


def _common_destination(state: ReshardState, source: int) -> tuple[int | None, int]:
    """The other dimension that lacks the last surplus axes of a dimension, and the number of these axes."""
    target: int | None = None
    count = 0
    for axis in reversed(state.surplus[source]):
        destination = state.destination(axis)
        if destination is None or destination == source or (target is not None and destination != target):
            break
        target = destination
        count += 1
    return target, count
