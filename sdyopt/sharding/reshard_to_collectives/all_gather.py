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
