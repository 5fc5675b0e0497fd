"""Taking manual axes out of shardings: what is left is how the body sees them. And putting them back."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from sdyopt.dialects.sdy.axes import AxisRef
from sdyopt.dialects.sdy.axis_lists import ManualAxes
from sdyopt.dialects.sdy.sharding import DimensionSharding, TensorSharding


def without_manual_axes(sharding: TensorSharding, manual: ManualAxes) -> TensorSharding:
    """The sharding along free axes only. In each dimension the manual axes come first."""
    if not manual:
        return sharding

    def free(axes: Iterable[AxisRef]) -> tuple[AxisRef, ...]:
        return tuple(axis for axis in axes if axis.name not in manual)

    dims = tuple(
        DimensionSharding(dim.axes[_manual_count(dim.axes, manual) :], dim.is_closed, dim.priority)
        for dim in sharding.dims
    )
    return TensorSharding(
        sharding.mesh_or_ref, dims, free(sharding.replicated_axes), free(sharding.unreduced_axes)
    )


def with_manual_axes(free: TensorSharding, outside: TensorSharding, manual: ManualAxes) -> TensorSharding:
    """A sharding along free axes as it is outside, where the manual axes of another one come first."""
    dims = tuple(
        DimensionSharding(
            held.axes[: _manual_count(held.axes, manual)] + dim.axes, dim.is_closed, dim.priority
        )
        for dim, held in zip(free.dims, outside.dims, strict=True)
    )
    return TensorSharding(free.mesh_or_ref, dims, outside.replicated_axes, outside.unreduced_axes)


def _manual_count(axes: tuple[AxisRef, ...], manual: ManualAxes) -> int:
    """How many manual axes there are before the free ones.

    Searched for by halves as in the reference, so that lists in which they are not in this order, which are
    wrong but may come up inside a pass, give the same.
    """
    return bisect_left(axes, True, key=lambda axis: axis.name not in manual)
