"""The collectives of a plan: each changes the state of the tensor that is resharded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import gcd

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.sdy.axes import AllToAllParam, AllToAllParams, AxisRef
from sdyopt.shardy.sharding.reshard_to_collectives.state import (
    ReshardState,
    assign_to_surplus,
    split_by_capacity,
)


def gather_dimensions(state: ReshardState) -> list[list[AxisRef]] | None:
    """Gathers the last surplus axes of each dimension that no dimension lacks; None if there are none.

    Before jaxlib 0.12, if there are any, the other surplus axes of the dimension are gathered too. Axes that
    a dimension lacks only remain if axis sizes are not all powers of two; otherwise all-to-alls have moved
    them.
    """
    counts = [_count_to_gather(state, dim) for dim in range(state.rank)]
    gathered = [_gather_dimension(state, dim, count) for dim, count in enumerate(counts)]
    return gathered if any(gathered) else None


def _gather_dimension(state: ReshardState, dim: int, count: int) -> list[AxisRef]:
    surplus = state.surplus[dim]
    if not count:
        return []
    removed = surplus[len(surplus) - count :]
    if Behavior.RESHARDS_OF_PADDED_DIMENSIONS.active:
        state.in_use.difference_update(removed)
    else:
        # As in Shardy, the other axes stay in use, so that a second all-slice does not take them.
        state.in_use.discard(surplus[-1])
    state.drop_current(dim, removed)
    del surplus[len(surplus) - count :]
    return state.merged(removed)


def _count_to_gather(state: ReshardState, dim: int) -> int:
    surplus = state.surplus[dim]
    if dim in state.padded:
        return len(surplus)
    count = 0
    for axis in reversed(surplus):
        if state.destination(axis) is not None:
            break
        count += 1
    return len(surplus) if count and not Behavior.RESHARDS_OF_PADDED_DIMENSIONS.active else count


def gather_clashing_sub_axes(state: ReshardState) -> list[list[AxisRef]] | None:
    """Gathers the surplus axes of each dimension, from the first that cannot coexist with a missing axis on.

    None if all can coexist. `"six":(1)3` and `"six":(2)3` cannot, because no split of `"six"` has both.
    """
    missing = [axis for axes in state.missing for axis in axes if axis.sub_axis is not None]
    if not missing:
        return None
    gathered = [_gather_clashing(state, dim, missing) for dim in range(state.rank)]
    if not any(gathered):
        return None
    state.release_gathered_axes()
    return gathered


def _gather_clashing(state: ReshardState, dim: int, missing: list[AxisRef]) -> list[AxisRef]:
    surplus = state.surplus[dim]
    clashing = (i for i, axis in enumerate(surplus) if not all(map(axis.can_coexist, missing)))
    start = next(clashing, len(surplus))
    removed = surplus[start:]
    del surplus[start:]
    state.drop_current(dim, removed)
    return state.merged(removed)


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
        target = state.destinations.get(axis)
        if target is None:
            if previous is not None and not missing:
                # An axis to gather follows an axis to move, but an all-to-all moves the last axes only.
                return True
            previous = None
            continue
        destination, position = target
        is_next = previous == (destination, position - 1)
        if (destination == dim or destination in destinations) and not is_next:
            # Axes with the same destination are not adjacent, or not in the order of the target.
            return True
        destinations.add(destination)
        previous = target
    return False


def _can_replace_axis(state: ReshardState) -> bool:
    """Whether a missing axis that is not in use can replace an axis to gather."""
    unused = [axis for axes in state.missing for axis in axes if axis not in state.in_use]
    to_gather = [axis for axes in state.surplus for axis in axes if axis not in state.destinations]
    return bool(unused and to_gather) and state.sizes_divide(unused[-1], to_gather[-1])


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
