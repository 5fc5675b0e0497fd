"""Shardings of tensors seen as shardings of factors, and back.

By a rule with `[ij]` on one side and `[i, j]` on the other, a dimension of size 8 that is split along
"x"=4 is factor i of size 2 split along `"x":(1)2` and factor j of size 4 split along `"x":(2)2`. In
terms of factors all operands and results can be compared; then factors are put together again.

A factor takes axes until it is fully split. The last factor of a dimension takes all that are left,
though they may not divide it: that is padding. If a factor before it is not fully split, and the next
axis has no divisor in common with what is left, then the axes from there on belong to no factor: they
overflow. They are kept, so that they are still there on the way back.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, prod
from typing import NamedTuple

from sdyopt.dialects.sdy.axes import AxisRef, with_axis
from sdyopt.dialects.sdy.mesh import Mesh
from sdyopt.dialects.sdy.rule import DimMapping, OpShardingRule, TensorMapping
from sdyopt.dialects.sdy.sharding import DimensionSharding, MeshOrRef, TensorSharding
from sdyopt.sharding.axis_lists import Axes, sharded_size, split_axis


class FactorSharding(NamedTuple):
    """How one factor of one tensor is split, and whether it may be split further."""

    axes: Axes = ()
    is_closed: bool = False
    is_minor_most: bool = True
    overflow_axes: Axes = ()


class TensorProjection:
    """How each factor of a tensor is split. Changes while a step is worked out."""

    __slots__ = ("factors", "replicated_axes", "unreduced_axes")

    def __init__(
        self, factors: dict[int, FactorSharding], replicated_axes: Axes = (), unreduced_axes: Axes = ()
    ) -> None:
        self.factors = factors
        self.replicated_axes = replicated_axes
        self.unreduced_axes = unreduced_axes

    def set_axes(self, factor: int, axes: Axes) -> None:
        """Gives a factor other axes."""
        self.factors[factor] = self.factors[factor]._replace(axes=axes)

    def sharded_size(self, mesh: Mesh) -> int:
        """Into how many parts the tensor is split, axes that overflow counted."""
        return prod([sharded_size(split.axes + split.overflow_axes, mesh) for split in self.factors.values()])

    def copy(self) -> TensorProjection:
        """The same, to be kept as it is."""
        return TensorProjection(dict(self.factors), self.replicated_axes, self.unreduced_axes)


def project(
    rule: OpShardingRule,
    shardings: Sequence[TensorSharding | None],
    mesh: Mesh,
    closed_if_missing: bool = False,
) -> list[TensorProjection]:
    """The projections of an operation's operands and results, of which some may have no sharding."""
    return [
        project_tensor(mapping, sharding, rule.factor_sizes, mesh, closed_if_missing)
        for mapping, sharding in zip(rule.tensors, shardings, strict=True)
    ]


def project_tensor(
    mapping: TensorMapping,
    sharding: TensorSharding | None,
    sizes: Sequence[int],
    mesh: Mesh,
    closed_if_missing: bool = False,
) -> TensorProjection:
    """How a sharding of a tensor splits its factors."""
    found: dict[int, FactorSharding] = {}
    if sharding is None:
        for dim in mapping.dims:
            _project_dimension(dim, DimensionSharding((), closed_if_missing), sizes, mesh, found)
        return TensorProjection(found)
    for dim, dim_sharding in zip(mapping.dims, sharding.dims, strict=True):
        _project_dimension(dim, dim_sharding, sizes, mesh, found)
    return TensorProjection(found, sharding.replicated_axes, sharding.unreduced_axes)


def unproject(
    projection: TensorProjection,
    mapping: TensorMapping,
    sizes: Sequence[int],
    mesh_or_ref: MeshOrRef,
    mesh: Mesh,
) -> TensorSharding:
    """The sharding of a tensor whose factors are split like this.

    A factor that stands behind one that is not fully split cannot be split by a sharding, whose parts
    are contiguous. What a projection says of such a factor is left out.
    """
    dims = tuple([_join(dim, projection, sizes, mesh) for dim in mapping.dims])
    return TensorSharding(mesh_or_ref, dims, projection.replicated_axes, projection.unreduced_axes)


# --- One dimension --------------------------------------------------------------------------------


def _project_dimension(
    dim: DimMapping,
    sharding: DimensionSharding,
    sizes: Sequence[int],
    mesh: Mesh,
    found: dict[int, FactorSharding],
) -> None:
    *majors, last = dim.factors
    rest = _Rest(sharding.axes, mesh)
    for factor in majors:
        axes = rest.take(sizes[factor])
        overflow = rest.take_all() if rest and sharded_size(axes, mesh) != sizes[factor] else ()
        found[factor] = FactorSharding(axes, sharding.is_closed, False, overflow)
        if overflow:
            # Nothing can be split behind axes that overflow. Of the factors there the first says so by
            # being closed; the reference says nothing about the others.
            following = dim.factors[dim.factors.index(factor) + 1]
            found[following] = FactorSharding((), True, following == last)
            return
    found[last] = FactorSharding(rest.take_all(), sharding.is_closed)


class _Rest:
    """The axes of a dimension that no factor has taken yet, major to minor. An axis may be taken in parts."""

    def __init__(self, axes: Axes, mesh: Mesh) -> None:
        self._axes = list(reversed(axes))
        self._mesh = mesh

    def __bool__(self) -> bool:
        return bool(self._axes)

    def take(self, size: int) -> Axes:
        """Takes axes for a factor of some size, as long as they divide what is left of it."""
        taken: list[AxisRef] = []
        while self._axes:
            axis = self._axes[-1]
            axis_size = axis.size(self._mesh)
            part = gcd(size, axis_size)
            if part == 1 and axis_size != 1:
                break
            self._axes.pop()
            if part < axis_size:
                axis, minor = split_axis(axis, part, axis_size)
                self._axes.append(minor)
            taken.append(axis)
            size //= part
        return tuple(taken)

    def take_all(self) -> Axes:
        """Takes all that is left."""
        taken, self._axes = tuple(reversed(self._axes)), []
        return taken


def _join(
    dim: DimMapping, projection: TensorProjection, sizes: Sequence[int], mesh: Mesh
) -> DimensionSharding:
    axes: Axes = ()
    is_closed = False
    for factor in dim.factors:
        sharding = projection.factors.get(factor)
        if sharding is None:
            # One of several behind axes that overflow, which nothing is said about.
            break
        is_closed = is_closed or sharding.is_closed
        axes = _joined(axes, sharding.axes, mesh)
        if sharding.overflow_axes:
            axes = _joined(axes, sharding.overflow_axes, mesh)
            break
        if sharded_size(sharding.axes, mesh) < sizes[factor]:
            break
    return DimensionSharding(axes, is_closed)


def _joined(axes: Axes, more: Axes, mesh: Mesh) -> Axes:
    """One list and another; where they meet, two parts of an axis become one."""
    return with_axis(axes, more[0], mesh) + more[1:] if more else axes
