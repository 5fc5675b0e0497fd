"""All-slices: without communication, axes that nothing uses yet shard a dimension."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from sdyopt.dialects.sdy.axes import AxisRef
from sdyopt.sharding.resharding.capacity import distribute, fit
from sdyopt.sharding.resharding.progress import Progress


def slice_axes(progress: Progress) -> list[list[AxisRef]] | None:
    """Slices each dimension as much as the target is split more than now; None if nothing is to be sliced.

    That is its capacity: if it were split further, something would have to be moved away again. The missing
    axes that are free go, in this order,

    1. where they can travel with others: if `"x"` is to move from dimension 0 to dimension 1, and there
       stands before `"y"`, then `"y"` is sliced behind it in dimension 0, and one all-to-all moves both;
    2. to the dimension that lacks them;
    3. to the first dimension that has capacity left.
    """
    return _Slicing(progress).run()


class _Slicing:
    """One all-slice in the making."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._axes: list[list[AxisRef]] = [[] for _ in range(progress.rank)]
        self._capacities = [
            _capacity(progress.sharded_size(extra), progress.sharded_size(missing))
            for extra, missing in zip(progress.extra, progress.missing, strict=True)
        ]

    def run(self) -> list[list[AxisRef]] | None:
        progress = self._progress
        for dim in range(progress.rank):
            for axis in self._travellers(dim):
                progress.extra[dim].append(axis)
                progress.held.add(axis)
                self._slice(dim, axis)
        left = [axis for dim in range(progress.rank) for axis in self._slice_in_place(dim)]
        distribute(progress, self._capacities, lambda dim: left, at_front=False, took=self._slice)
        progress.look_up_destinations()
        return self._axes if any(self._axes) else None

    def _slice(self, dim: int, axis: AxisRef) -> None:
        self._progress.add(self._axes[dim], axis)
        self._progress.add(self._progress.current[dim], axis)

    # --- 1. Axes that travel with others ------------------------------------------------------

    def _travellers(self, source: int) -> Sequence[AxisRef]:
        """The axes to slice in a dimension for the sake of another one, to which its last axis is to go.

        Neither may have anything for a permute to do, and the size of this dimension must divide evenly. The
        capacity of the other dimension is lent to this one.
        """
        progress = self._progress
        extra = progress.extra[source]
        if not extra or progress.missing[source]:
            return ()
        target = progress.destination(extra[-1])
        if target is None or progress.extra[target]:
            return ()
        missing = progress.missing[target]
        if extra[-1] not in missing:
            return ()
        start = missing.index(extra[-1]) + 1
        free = _leading_free(missing[start:], progress)
        if not free:
            return ()
        together = _common_end(extra, missing[:start])
        if any(progress.destination(axis) == target for axis in extra[: len(extra) - together]):
            return ()
        added = progress.sharded_size(free)
        if progress.shape[source] % (progress.sharded_size(progress.current[source]) * added):
            return ()
        moved = progress.sharded_size(extra[len(extra) - together :])
        self._capacities[target] //= moved * added
        return free

    # --- 2. Axes in their own dimension -------------------------------------------------------

    def _slice_in_place(self, dim: int) -> list[AxisRef]:
        """Slices a dimension along its missing axes as far as possible; those free that are left over."""
        progress = self._progress
        extra, missing = progress.extra[dim], progress.missing[dim]
        left: list[AxisRef] = []
        kept: list[AxisRef] = []
        for axis in missing:
            if axis in progress.held:
                kept.append(axis)
                continue
            taken, rest, self._capacities[dim] = fit(progress, axis, self._capacities[dim])
            if taken is not None:
                self._slice(dim, taken)
                if extra or kept:
                    progress.held.add(taken)
                    extra.append(taken)
                    kept.append(taken)
            if rest is not None:
                kept.append(rest)
                left.append(rest)
        missing[:] = kept
        return left


def _capacity(extra: int, missing: int) -> int:
    """How much more the target is split, in whole parts of what the tensor has now."""
    return missing // gcd(extra, missing)


def _leading_free(axes: Sequence[AxisRef], progress: Progress) -> list[AxisRef]:
    """The axes at the beginning that shard nothing yet."""
    count = next((index for index, axis in enumerate(axes) if axis in progress.held), len(axes))
    return list(axes[:count])


def _common_end(first: Sequence[AxisRef], second: Sequence[AxisRef]) -> int:
    """How many axes at the end of two lists are the same."""
    count = 0
    for one, other in zip(reversed(first), reversed(second), strict=False):
        if one is not other:
            break
        count += 1
    return count
