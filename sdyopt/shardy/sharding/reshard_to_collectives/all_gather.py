"""All-gather: removes axes from dimensions."""

from __future__ import annotations

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.shardy.sharding.reshard_to_collectives.state import ReshardState


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
