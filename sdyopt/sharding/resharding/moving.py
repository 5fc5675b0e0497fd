"""All-to-alls: axes stop sharding one dimension and shard another one instead."""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.dialects.sdy.axes import AxisRef
from sdyopt.dialects.sdy.axis_lists import AllToAllParam, AllToAllParams
from sdyopt.sharding.resharding.progress import Progress


def moves(progress: Progress, in_order: bool) -> Iterator[AllToAllParams]:
    """Makes the moves that bring axes to dimensions that lack them, one at a time.

    In order are those whose axes are just what the dimension lacks next. They are made before others: so
    moves from several dimensions to one come in the order that leaves nothing to permute.
    """
    for source in range(progress.rank):
        while (move := _move(progress, source, in_order)) is not None:
            yield AllToAllParams((move,))


def _move(progress: Progress, source: int, in_order: bool) -> AllToAllParam | None:
    """Moves as many axes from the end of a dimension as go to the same other one."""
    extra = progress.extra[source]
    target, count = _common_destination(progress, source)
    if target is None:
        return None
    axes, missing = extra[len(extra) - count :], progress.missing[target]
    if in_order and axes != missing[:count]:
        return None
    progress.drop_current(source, axes)
    del extra[len(extra) - count :]
    moved: list[AxisRef] = []
    arrived = 0
    for axis in axes:
        progress.add(moved, axis)
        progress.add(progress.current[target], axis)
        if not progress.extra[target] and arrived < len(missing) and missing[arrived] is axis:
            progress.held.discard(axis)
            arrived += 1
        else:
            progress.held.add(axis)
            progress.extra[target].append(axis)
    del missing[:arrived]
    return AllToAllParam(tuple(moved), source, target)


def _common_destination(progress: Progress, source: int) -> tuple[int | None, int]:
    """The other dimension to which axes at the end of a dimension go, and how many of them."""
    target: int | None = None
    count = 0
    for axis in reversed(progress.extra[source]):
        goal = progress.destination(axis)
        if goal is None or goal == source or (target is not None and goal != target):
            break
        target = goal
        count += 1
    return target, count
