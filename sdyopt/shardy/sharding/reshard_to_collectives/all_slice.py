"""All-slice: shards dimensions along axes that are not in use, without communication."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.shardy.sharding.reshard_to_collectives.state import (
    ReshardState,
    assign_to_surplus,
    split_by_capacity,
)


def slice_dimensions(state: ReshardState) -> list[list[AxisRef]] | None:
    """Slices each dimension within its capacity; None if nothing can be sliced.

    The capacity of a dimension is how many times larger its sharded size may become; axes beyond it would
    have to be removed again. Dimensions are sliced along the missing axes that are not in use, in this order,

    1. together with an axis that moves to their dimension: if `"x"` moves from dimension 0 to dimension 1,
       whose target is `"x", "y"`, then `"y"` is sliced in dimension 0, and one all-to-all moves both;
    2. in the dimension that lacks them;
    3. in the first dimension with capacity for them.
    """
    return _AllSlice(state).run()


class _AllSlice:
    """One all-slice: the axes of each dimension so far, and the remaining capacities."""

    def __init__(self, state: ReshardState) -> None:
        self._state = state
        self._axes: list[list[AxisRef]] = [[] for _ in range(state.rank)]
        self._capacities = [
            1 if dim in state.padded else _capacity(state.sharded_size(surplus), state.sharded_size(missing))
            for dim, (surplus, missing) in enumerate(zip(state.surplus, state.missing, strict=True))
        ]

    def run(self) -> list[list[AxisRef]] | None:
        state = self._state
        for dim in range(state.rank):
            for axis in self._axes_that_move_together(dim):
                state.surplus[dim].append(axis)
                state.in_use.add(axis)
                self._slice(dim, axis)
        dims = (dim for dim in range(state.rank) if dim not in state.padded)
        unassigned = [axis for dim in dims for axis in self._slice_in_place(dim)]
        assign_to_surplus(
            state, self._capacities, lambda dim: unassigned, major_most=False, on_assigned=self._slice
        )
        state.index_destinations()
        return self._axes if any(self._axes) else None

    def _slice(self, dim: int, axis: AxisRef) -> None:
        self._state.append_axis(self._axes[dim], axis)
        self._state.append_axis(self._state.current[dim], axis)

    # --- 1. Axes that move with others --------------------------------------------------------

    def _axes_that_move_together(self, source: int) -> Sequence[AxisRef]:
        """The axes along which to slice dimension `source` before an all-to-all moves them with others.

        They follow the last surplus axis of `source` in the target of the all-to-all. Neither dimension may
        need a permute, and the slices must divide `source` evenly. The axes use capacity of the target.
        """
        state = self._state
        surplus = state.surplus[source]
        if not surplus or state.missing[source]:
            return ()
        target = state.destination(surplus[-1])
        if target is None or state.surplus[target]:
            return ()
        missing = state.missing[target]
        if surplus[-1] not in missing:
            return ()
        start = missing.index(surplus[-1]) + 1
        axes = _prefix_not_in_use(missing[start:], state)
        if not axes:
            return ()
        moved_count = _common_suffix_length(surplus, missing[:start])
        if any(state.destination(axis) == target for axis in surplus[: len(surplus) - moved_count]):
            return ()
        size = state.sharded_size(axes)
        if state.shape[source] % (state.sharded_size(state.current[source]) * size):
            return ()
        moved_size = state.sharded_size(surplus[len(surplus) - moved_count :])
        self._capacities[target] //= moved_size * size
        return axes

    # --- 2. Axes in their own dimension -------------------------------------------------------

    def _slice_in_place(self, dim: int) -> list[AxisRef]:
        """Slices a dimension along missing axes that are not in use; returns those beyond its capacity."""
        state = self._state
        surplus, missing = state.surplus[dim], state.missing[dim]
        unassigned: list[AxisRef] = []
        still_missing: list[AxisRef] = []
        for axis in missing:
            if axis in state.in_use:
                still_missing.append(axis)
                continue
            fitting, rest, self._capacities[dim] = split_by_capacity(state, axis, self._capacities[dim])
            if fitting is not None:
                self._slice(dim, fitting)
                if surplus or still_missing:
                    state.in_use.add(fitting)
                    surplus.append(fitting)
                    still_missing.append(fitting)
            if rest is not None:
                still_missing.append(rest)
                unassigned.append(rest)
        missing[:] = still_missing
        return unassigned


def _capacity(surplus_size: int, missing_size: int) -> int:
    """The capacity of a dimension whose surplus and missing axes have these sharded sizes."""
    return missing_size // gcd(surplus_size, missing_size)


def _prefix_not_in_use(axes: Sequence[AxisRef], state: ReshardState) -> list[AxisRef]:
    count = next((index for index, axis in enumerate(axes) if axis in state.in_use), len(axes))
    return list(axes[:count])


def _common_suffix_length(first: Sequence[AxisRef], second: Sequence[AxisRef]) -> int:
    count = 0
    for axis, other in zip(reversed(first), reversed(second), strict=False):
        if axis is not other:
            break
        count += 1
    return count
