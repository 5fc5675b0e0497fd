"""Collective permutes: every device sends its chunk to another one, so that other axes shard the tensor."""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.dialects.sdy.axes import AxisRef
from sdyopt.sharding.resharding.capacity import distribute, fit
from sdyopt.sharding.resharding.progress import Progress

# --- Whether ----------------------------------------------------------------------------------------


def helps(progress: Progress) -> bool:
    """Whether a permute brings the tensor nearer to its target."""
    return any(_helps_in(progress, dim) for dim in range(progress.rank)) or _can_replace(progress)


def _helps_in(progress: Progress, dim: int) -> bool:
    """Whether a dimension has axes in place of which missing ones can stand, or in the wrong order."""
    extra, missing = progress.extra[dim], progress.missing[dim]
    if extra and missing and progress.divide(extra[0], missing[0]):
        return True
    seen: set[int] = set()
    last: int | None = None
    last_position = 0
    for axis in extra:
        found = progress.destinations.get(axis)
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


def _can_replace(progress: Progress) -> bool:
    """Whether an axis that is to be gathered can be replaced by a free one that is missing."""
    free = [axis for axes in progress.missing for axis in axes if axis not in progress.held]
    surplus = list(_replaceable(progress))
    return bool(free and surplus) and progress.divide(free[-1], surplus[-1])


def _replaceable(progress: Progress) -> Iterator[AxisRef]:
    return (axis for axes in progress.extra for axis in axes if axis not in progress.destinations)


# --- How --------------------------------------------------------------------------------------------


def permute(progress: Progress) -> None:
    """Shards every dimension into as many parts as before, by the axes that serve the target best.

    In this order: missing axes go where they belong; those left over anywhere, at the end, where an
    all-to-all can take them away; what was there and is to be gathered, at the front, in its old dimension
    if possible and then anywhere.
    """
    # What is to be split anew.
    old, progress.extra = progress.extra, [[] for _ in progress.extra]
    progress.held = set()
    capacities = [progress.sharded_size(axes) for axes in old]
    homeless: list[AxisRef] = []
    replaced: list[list[AxisRef]] = []
    for dim, axes in enumerate(old):
        before = capacities[dim]
        progress.drop_current(dim, axes)
        capacities[dim] = _put_in_place(progress, dim, before)
        homeless += progress.missing[dim]
        surplus = [axis for axis in axes if axis not in progress.destinations]
        replaced.append(_last_first(progress, surplus, before // capacities[dim]))
    distribute(progress, capacities, lambda dim: homeless, at_front=False)
    distribute(progress, capacities, replaced.__getitem__, at_front=True)
    anywhere = [axis for axes in replaced for axis in axes]
    distribute(progress, capacities, lambda dim: anywhere, at_front=True)
    progress.look_up_destinations()
    for current, extra in zip(progress.current, progress.extra, strict=True):
        for axis in extra:
            progress.add(current, axis)


def _put_in_place(progress: Progress, dim: int, capacity: int) -> int:
    """Shards a dimension along its first missing axes; the capacity that is left."""
    missing = progress.missing[dim]
    count = 0
    while capacity > 1 and count < len(missing):
        taken, rest, capacity = fit(progress, missing[count], capacity)
        if taken is None:
            break
        progress.add(progress.current[dim], taken)
        if rest is None:
            count += 1
        else:
            missing[count] = rest
    del missing[:count]
    return capacity


def _last_first(progress: Progress, axes: list[AxisRef], used: int) -> list[AxisRef]:
    """Axes with those at the end that missing axes have replaced: the first ones, up to a size of `used`.

    What keeps its place comes first, and so will be put back there.
    """
    replaced: list[AxisRef] = []
    count = 0
    while used > 1 and count < len(axes):
        taken, rest, used = fit(progress, axes[count], used)
        if taken is None:
            break
        replaced.append(taken)
        if rest is None:
            count += 1
        else:
            axes[count] = rest
    return [*axes[count:], *replaced]
