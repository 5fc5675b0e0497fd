"""Projects shardings of tensors to shardings of factors, and back.

By the rule `([ij])->([i, j])`, a dimension of size 8 that is sharded along "x"=4 has factor i of size 2
sharded along `"x":(1)2` and factor j of size 4 sharded along `"x":(2)2`. The factor shardings of all operands
and results can be compared, although a factor may belong to another dimension in each of these tensors.

A factor takes axes until it is fully sharded. The minor-most factor of a dimension takes all remaining axes,
even if they do not divide it (the dimension is padded). If any other factor is not fully sharded, and its
remaining size and the size of the next axis have no common divisor, this axis and all axes after it are
overflow axes of the factor: they shard no factor, and are kept only so that `unproject` restores them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import gcd, prod

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.sdy.axes import AxisRef, with_axis
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.reduction_kind import ReductionKind
from sdyopt.mlir.dialects.sdy.rule import DimMapping, OpShardingRule, TensorMapping
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, MeshOrRef, TensorSharding
from sdyopt.shardy.sharding.axis_lists import Axes, sharded_size, split_axis


class FactorSharding(NamedTuple):
    """The sharding of one factor in one tensor.

    `is_minor_most`: the factor is the last factor of its dimension. `overflow_axes`: axes of the dimension
    that are beyond the size of this factor and shard no factor.
    """

    axes: Axes = ()
    is_closed: bool = False
    is_minor_most: bool = True
    overflow_axes: Axes = ()


class TensorProjection:
    """The sharding of each factor of a tensor, updated in place."""

    __slots__ = ("factors", "reduction", "replicated_axes", "unreduced_axes")

    def __init__(
        self,
        factors: dict[int, FactorSharding],
        replicated_axes: Axes = (),
        unreduced_axes: Axes = (),
        reduction: ReductionKind = ReductionKind.SUM,
    ) -> None:
        self.factors = factors
        self.replicated_axes = replicated_axes
        self.unreduced_axes = unreduced_axes
        self.reduction = reduction

    def set_axes(self, factor: int, axes: Axes) -> None:
        """Replaces the axes of a factor."""
        self.factors[factor] = self.factors[factor]._replace(axes=axes)

    def drop_unreduced_axes(self) -> None:
        """Removes the unreduced axes."""
        self.unreduced_axes, self.reduction = (), ReductionKind.SUM

    def sharded_size(self, mesh: Mesh) -> int:
        """The number of shards of the tensor, overflow axes included."""
        return prod(
            [sharded_size(factor.axes + factor.overflow_axes, mesh) for factor in self.factors.values()]
        )

    def copy(self) -> TensorProjection:
        """A copy that later updates of this projection do not affect."""
        return TensorProjection(dict(self.factors), self.replicated_axes, self.unreduced_axes, self.reduction)


def project(
    rule: OpShardingRule,
    shardings: Sequence[TensorSharding | None],
    mesh: Mesh,
    closed_if_missing: bool = False,
) -> list[TensorProjection]:
    """The projections of operands and results.

    A missing sharding counts as fully open or, with `closed_if_missing`, as fully closed.
    """
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
    """The factor shardings of a tensor with this sharding. `sizes` are the sizes of all factors."""
    factors: dict[int, FactorSharding] = {}
    if sharding is None:
        missing = DimensionSharding((), closed_if_missing)
        for dim in mapping.dims:
            _project_dimension(dim, missing, sizes, mesh, factors)
        return TensorProjection(factors)
    for dim, dim_sharding in zip(mapping.dims, sharding.dims, strict=True):
        _project_dimension(dim, dim_sharding, sizes, mesh, factors)
    return TensorProjection(factors, sharding.replicated_axes, sharding.unreduced_axes, sharding.reduction)


@lru_cache(maxsize=4096)
def single_factors(mapping: TensorMapping) -> tuple[int, ...] | None:
    """The factor of each dimension of a tensor; None if a dimension has several."""
    if any(len(dim.factors) != 1 for dim in mapping.dims):
        return None
    return tuple([dim.factors[0] for dim in mapping.dims])


def unproject(
    projection: TensorProjection,
    mapping: TensorMapping,
    sizes: Sequence[int],
    mesh_or_ref: MeshOrRef,
    mesh: Mesh,
) -> TensorSharding:
    """The sharding of a tensor with these factor shardings.

    Shards are contiguous, so a dimension sharding ends at the first factor that is not fully sharded: the
    axes of the factors after it are dropped. Priorities, which projections do not have, are dropped, too.
    """
    dims = tuple([_unproject_dimension(dim, projection, sizes, mesh) for dim in mapping.dims])
    return TensorSharding(
        mesh_or_ref, dims, projection.replicated_axes, projection.unreduced_axes, projection.reduction
    )


# --- One dimension --------------------------------------------------------------------------------


def _project_dimension(
    dim: DimMapping,
    sharding: DimensionSharding,
    sizes: Sequence[int],
    mesh: Mesh,
    factors: dict[int, FactorSharding],
) -> None:
    if len(dim.factors) == 1:
        factors[dim.factors[0]] = FactorSharding(sharding.axes, sharding.is_closed)
        return
    *majors, last = dim.factors
    if not sharding.axes:
        for factor in dim.factors:
            factors[factor] = FactorSharding((), sharding.is_closed, factor == last)
        return
    remaining = _RemainingAxes(sharding.axes, mesh)
    for factor in majors:
        axes = remaining.take(sizes[factor])
        overflow = remaining.take_all() if remaining and sharded_size(axes, mesh) != sizes[factor] else ()
        factors[factor] = FactorSharding(axes, sharding.is_closed, False, overflow)
        if overflow:
            # No factor after overflow axes can be sharded. As in Shardy, the first of these factors
            # is closed, and the others have no factor sharding.
            next_factor = dim.factors[dim.factors.index(factor) + 1]
            factors[next_factor] = FactorSharding((), True, next_factor == last)
            return
    factors[last] = FactorSharding(remaining.take_all(), sharding.is_closed)


class _RemainingAxes:
    """The axes of a dimension that no factor has taken yet. Factors may take sub-axes of an axis."""

    def __init__(self, axes: Axes, mesh: Mesh) -> None:
        # The major-most axis comes last.
        self._axes = list(reversed(axes))
        self._mesh = mesh

    def __bool__(self) -> bool:
        return bool(self._axes)

    def take(self, size: int) -> Axes:
        """Takes major-most axes or sub-axes, as long as they divide the rest of a factor of this size."""
        taken: list[AxisRef] = []
        while self._axes:
            axis = self._axes[-1]
            axis_size = axis.size(self._mesh)
            divisor = gcd(size, axis_size)
            if divisor == 1 and axis_size != 1:
                break
            self._axes.pop()
            if divisor < axis_size:
                axis, minor = split_axis(axis, divisor, axis_size)
                self._axes.append(minor)
            taken.append(axis)
            size //= divisor
        return tuple(taken)

    def take_all(self) -> Axes:
        """Takes all remaining axes."""
        taken, self._axes = tuple(reversed(self._axes)), []
        return taken


def _unproject_dimension(
    dim: DimMapping, projection: TensorProjection, sizes: Sequence[int], mesh: Mesh
) -> DimensionSharding:
    if len(dim.factors) == 1:
        only = projection.factors.get(dim.factors[0])
        if only is not None and not only.overflow_axes:
            return DimensionSharding(only.axes, only.is_closed)
    axes: Axes = ()
    is_closed = False
    for factor in dim.factors:
        sharding = projection.factors.get(factor)
        if sharding is None:
            # The second or a later factor after overflow axes.
            break
        is_closed = is_closed or sharding.is_closed
        axes = _concatenate(axes, sharding.axes, mesh)
        axes = _concatenate(axes, sharding.overflow_axes, mesh)
        if sharded_size(sharding.axes, mesh) < sizes[factor]:
            break
    return DimensionSharding(axes, is_closed)


def _concatenate(axes: Axes, more: Axes, mesh: Mesh) -> Axes:
    """Both lists in one; the last axis of the first and the first of the second are merged if possible."""
    return with_axis(axes, more[0], mesh) + more[1:] if more else axes
