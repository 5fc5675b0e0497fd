"""All-slices: without communication, axes that nothing uses yet shard a dimension."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from sdyopt.dialects.sdy.axes import AxisRef
from sdyopt.sharding.reshard_to_collectives.axis_within_capacity import distribute, fit
from sdyopt.sharding.reshard_to_collectives.state import ReshardState


def slice_state(state: ReshardState) -> list[list[AxisRef]] | None:
    """Slices each dimension as much as the target is split more than now; None if nothing is to be sliced.

    That is its capacity: if it were split further, something would have to be moved away again. The missing
    axes that are free go, in this order,

    1. where they can travel with others: if `"x"` is to move from dimension 0 to dimension 1, and there
       stands before `"y"`, then `"y"` is sliced behind it in dimension 0, and one all-to-all moves both;
    2. to the dimension that lacks them;
    3. to the first dimension that has capacity left.
    """
    return _Slicing(state).run()


class _Slicing:
    """One all-slice in the making."""

    def __init__(self, state: ReshardState) -> None:
        self._state = state
        self._axes: list[list[AxisRef]] = [[] for _ in range(state.rank)]
        self._capacities = [
            _capacity(state.sharded_size(surplus), state.sharded_size(missing))
            for surplus, missing in zip(state.surplus, state.missing, strict=True)
        ]

    def run(self) -> list[list[AxisRef]] | None:
        state = self._state
        for dim in range(state.rank):
            for axis in self._travellers(dim):
                state.surplus[dim].append(axis)
                state.in_use.add(axis)
                self._slice(dim, axis)
        left = [axis for dim in range(state.rank) for axis in self._slice_in_place(dim)]
        distribute(state, self._capacities, lambda dim: left, major_most=False, took=self._slice)
        state.index_destinations()
        return self._axes if any(self._axes) else None

    def _slice(self, dim: int, axis: AxisRef) -> None:
        self._state.add(self._axes[dim], axis)
        self._state.add(self._state.current[dim], axis)

    # --- 1. Axes that travel with others ------------------------------------------------------

    def _travellers(self, source: int) -> Sequence[AxisRef]:
        """The axes to slice in a dimension for the sake of another one, to which its last axis is to go.

        Neither may have anything for a permute to do, and the size of this dimension must divide evenly. The
        capacity of the other dimension is lent to this one.
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
        free = _leading_free(missing[start:], state)
        if not free:
            return ()
        together = _common_end(surplus, missing[:start])
        if any(state.destination(axis) == target for axis in surplus[: len(surplus) - together]):
            return ()
        added = state.sharded_size(free)
        if state.shape[source] % (state.sharded_size(state.current[source]) * added):
            return ()
        moved = state.sharded_size(surplus[len(surplus) - together :])
        self._capacities[target] //= moved * added
        return free

    # --- 2. Axes in their own dimension -------------------------------------------------------

    def _slice_in_place(self, dim: int) -> list[AxisRef]:
        """Slices a dimension along its missing axes as far as possible; those free that are left over."""
        state = self._state
        surplus, missing = state.surplus[dim], state.missing[dim]
        left: list[AxisRef] = []
        kept: list[AxisRef] = []
        for axis in missing:
            if axis in state.in_use:
                kept.append(axis)
                continue
            taken, rest, self._capacities[dim] = fit(state, axis, self._capacities[dim])
            if taken is not None:
                self._slice(dim, taken)
                if surplus or kept:
                    state.in_use.add(taken)
                    surplus.append(taken)
                    kept.append(taken)
            if rest is not None:
                kept.append(rest)
                left.append(rest)
        missing[:] = kept
        return left


def _capacity(surplus: int, missing: int) -> int:
    """How much more the target is split, in whole parts of what the tensor has now."""
    return missing // gcd(surplus, missing)


def _leading_free(axes: Sequence[AxisRef], state: ReshardState) -> list[AxisRef]:
    """The axes at the beginning that shard nothing yet."""
    count = next((index for index, axis in enumerate(axes) if axis in state.in_use), len(axes))
    return list(axes[:count])


def _common_end(first: Sequence[AxisRef], second: Sequence[AxisRef]) -> int:
    """How many axes at the end of two lists are the same."""
    count = 0
    for one, other in zip(reversed(first), reversed(second), strict=False):
        if one is not other:
            break
        count += 1
    return count
