"""All-gather: removes axes from dimensions."""

from __future__ import annotations

from sdyopt.dialects.sdy.axes import AxisRef
from sdyopt.sharding.reshard_to_collectives.state import ReshardState


def gather_dimensions(state: ReshardState) -> list[list[AxisRef]] | None:
    """Gathers each dimension whose last surplus axis no dimension lacks; None if there is no such dimension.

    All surplus axes of the dimension are gathered, even those that another dimension lacks. Such axes only
    remain if axis sizes are not all powers of two; otherwise all-to-alls have moved them.
    """
    gathered = [_gather_dimension(state, dim) for dim in range(state.rank)]
    return gathered if any(gathered) else None


def _gather_dimension(state: ReshardState, dim: int) -> list[AxisRef]:
    surplus = state.surplus[dim]
    if not surplus or surplus[-1] in state.destinations:
        return []
    # As in Shardy, the other axes stay in use, so that a second all-slice does not take them.
    state.in_use.discard(surplus[-1])
    state.drop_current(dim, surplus)
    gathered: list[AxisRef] = []
    for axis in surplus:
        state.append_axis(gathered, axis)
    surplus.clear()
    return gathered


def gather_clashing_sub_axes(state: ReshardState) -> list[list[AxisRef]] | None:
    """Gathers the surplus axes from the first one on that cannot coexist with a missing axis.

    No split of "six" has both "six":(1)3 and "six":(2)3: the groups of devices that differ along one of them
    have shards that differ along the other one, too.
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
    clashing = [
        index for index, axis in enumerate(surplus) if not all(axis.can_coexist(other) for other in missing)
    ]
    if not clashing:
        return []
    removed = surplus[clashing[0] :]
    state.drop_current(dim, removed)
    gathered: list[AxisRef] = []
    for axis in removed:
        state.append_axis(gathered, axis)
    del surplus[clashing[0] :]
    return gathered
