"""All-gathers: chunks are put together again, so that fewer axes shard a dimension."""

from __future__ import annotations

from sdyopt.dialects.sdy.axes import AxisRef
from sdyopt.sharding.resharding.progress import Progress


def gather_axes(progress: Progress) -> list[list[AxisRef]] | None:
    """Gathers each dimension whose last axis no dimension lacks; None if there is none.

    Then all extra axes of the dimension are gathered, also those that another dimension lacks. This matters
    only where sizes do not divide each other: elsewhere such axes have been moved before.
    """
    found = [_gather(progress, dim) for dim in range(progress.rank)]
    return found if any(found) else None


def _gather(progress: Progress, dim: int) -> list[AxisRef]:
    extra = progress.extra[dim]
    if not extra or extra[-1] in progress.destinations:
        return []
    # The others count as held, though they no longer are: a second all-slice leaves them alone.
    progress.held.discard(extra[-1])
    progress.drop_current(dim, extra)
    gathered: list[AxisRef] = []
    for axis in extra:
        progress.add(gathered, axis)
    extra.clear()
    return gathered
