"""All-gathers: chunks are put together again, so that fewer axes shard a dimension."""

from __future__ import annotations

from sdyopt.dialects.sdy.axes import AxisRef
from sdyopt.sharding.reshard_to_collectives.state import ReshardState


def gather_state(state: ReshardState) -> list[list[AxisRef]] | None:
    """Gathers each dimension whose last axis no dimension lacks; None if there is none.

    Then all extra axes of the dimension are gathered, also those that another dimension lacks. This matters
    only where sizes do not divide each other: elsewhere such axes have been moved before.
    """
    found = [_gather(state, dim) for dim in range(state.rank)]
    return found if any(found) else None


def _gather(state: ReshardState, dim: int) -> list[AxisRef]:
    surplus = state.surplus[dim]
    if not surplus or surplus[-1] in state.destinations:
        return []
    # The others count as held, though they no longer are: a second all-slice leaves them alone.
    state.in_use.discard(surplus[-1])
    state.drop_current(dim, surplus)
    gathered: list[AxisRef] = []
    for axis in surplus:
        state.add(gathered, axis)
    surplus.clear()
    return gathered
