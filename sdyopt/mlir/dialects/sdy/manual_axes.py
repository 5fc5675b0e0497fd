"""Removes manual axes from shardings for the body of a manual computation, and adds them for the outside."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.axis_lists import ManualAxes
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding


def without_manual_axes(sharding: TensorSharding, manual: ManualAxes) -> TensorSharding:
    """The sharding in the body. In each dimension of a valid `sharding`, the manual axes come first."""
    if not manual:
        return sharding

    def free(axes: Iterable[AxisRef]) -> tuple[AxisRef, ...]:
        return tuple(axis for axis in axes if axis.name not in manual)

    dims = tuple(
        DimensionSharding(dim.axes[_manual_count(dim.axes, manual) :], dim.is_closed, dim.priority)
        for dim in sharding.dims
    )
    return (
        sharding.with_dims(dims)
        .with_replicated_axes(free(sharding.replicated_axes))
        .with_unreduced_axes(free(sharding.unreduced_axes))
    )


def with_manual_axes(free: TensorSharding, outside: TensorSharding, manual: ManualAxes) -> TensorSharding:
    """The sharding outside the body.

    Each dimension has the manual axes of `outside`, then the axes of `free`. The mesh is
    that of `free`; replicated and unreduced axes are those of `outside`. In an invalid sharding group, `free`
    may have another rank; as in C++, the rank is that of `outside`.
    """
    dims = tuple(
        DimensionSharding(
            outer.axes[: _manual_count(outer.axes, manual)] + dim.axes, dim.is_closed, dim.priority
        )
        for dim, outer in zip(free.dims, outside.dims, strict=False)
    )
    return outside.with_mesh(free.mesh_or_ref).with_dims(dims + outside.dims[len(dims) :])


def _manual_count(axes: tuple[AxisRef, ...], manual: ManualAxes) -> int:
    """The number of manual axes before the free axes.

    A binary search as in Shardy, so that axes in an invalid order, which may occur during a pass, give the
    same number as in Shardy.
    """
    return bisect_left(axes, True, key=lambda axis: axis.name not in manual)
