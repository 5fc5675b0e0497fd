"""Finds common axes of a reshape with overflow axes.

By `([ij])->([i, j])` with i=3 and j=4, a dimension of size 12 that is sharded along "x"=4 shards neither
factor: 4 has no divisor in common with i, and j could be sharded only if i were fully sharded. So "x" is an
overflow axis. It could still shard factor j after a reshard of the tensor. To find such axes, the axes of the
tensor with more shards are redistributed over the factors of operand and result separately, each axis or
sub-axis to the first factor with capacity for it; the common prefixes of both are the common axes.

There is nothing to find if operand and result have each axis at the same place: the number of equal blocks
into which the tensor is divided before the axis divides each of them.

XLA's SPMD partitioner redistributes nothing. With "x"=4 and i=6, it reshapes with the sharding of the result
if the operand can have it, else with what the result can have of that of the operand: "x":(1)2 shards i, and
the operand is gathered along "x":(2)2.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import gcd

from sdyopt.mlir.dialects.sdy.axes import AxisRef, with_axes, with_axis
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule, TensorMapping
from sdyopt.mlir.dialects.sdy.sharding import MeshOrRef, TensorSharding
from sdyopt.mlir.ir.types import RankedShapedType, Type
from sdyopt.shardy.sharding.axis_lists import Axes, common_prefix, split_axis
from sdyopt.shardy.sharding.sharding_projection import (
    FactorSharding,
    TensorProjection,
    project_tensor,
    unproject,
)


def has_overflow(tensor: TensorProjection) -> bool:
    """Whether a tensor has overflow axes."""
    return any(sharding.overflow_axes for sharding in tensor.factors.values())


def axis_places(sharding: TensorSharding, type: Type, mesh: Mesh) -> list[tuple[AxisRef, int]]:
    """Each axis with its place; sub-axes that continue each other at the next place are one."""
    assert isinstance(type, RankedShapedType)
    places: list[tuple[AxisRef, int]] = []
    blocks = 1
    for dim, dim_size in zip(sharding.dims, type.shape, strict=True):
        place = blocks
        for axis in dim.axes:
            merged, start = axis, place
            if places and _continues(axis, place, places[-1], mesh):
                last, start = places.pop()
                merged = last.merge(axis, mesh)
            places.append((merged, start))
            place *= axis.size(mesh)
        blocks *= dim_size
    return places


def _continues(axis: AxisRef, place: int, last: tuple[AxisRef, int], mesh: Mesh) -> bool:
    """Whether an axis continues the last one with its place."""
    last_axis, start = last
    return last_axis.can_merge(axis) and start * last_axis.size(mesh) == place


def find_common_reshape_axes(
    rule: OpShardingRule, tensors: list[TensorProjection], mesh_or_ref: MeshOrRef, mesh: Mesh
) -> list[Axes]:
    """The axes of each factor of a reshape. Updates the projections of its operand and its result."""
    operand, result = tensors
    source = operand if operand.sharded_size(mesh) >= result.sharded_size(mesh) else result
    axes: Axes = ()
    for factor in range(len(rule.factor_sizes)):
        sharding = source.factors.get(factor)
        if sharding is not None:
            axes += sharding.axes + sharding.overflow_axes
    redistributed = []
    for tensor, mapping in zip(tensors, rule.tensors, strict=True):
        _redistribute(axes, tensor, mapping, rule.factor_sizes, mesh)
        # A sharding drops the axes of factors after a factor that is not fully sharded.
        tensor_sharding = unproject(tensor, mapping, rule.factor_sizes, mesh_or_ref, mesh)
        redistributed.append(project_tensor(mapping, tensor_sharding, rule.factor_sizes, mesh))
    common = [_common_axes(redistributed, factor) for factor in range(len(rule.factor_sizes))]
    _set_axes(tensors, common)
    return common


def find_partitioner_reshape_axes(
    rule: OpShardingRule, tensors: list[TensorProjection], mesh_or_ref: MeshOrRef, mesh: Mesh
) -> list[Axes]:
    """The axes of each factor with which XLA computes a reshape. Updates the projections of its tensors."""
    of_operand, of_result = rule.tensors
    operand, result = (_axes_by_factor(tensor) for tensor in tensors)

    def in_dimensions(axes: Mapping[int, Axes], mapping: TensorMapping) -> dict[int, Axes]:
        """The axes that a tensor of other dimensions can have."""
        projection = TensorProjection({factor: FactorSharding(axes[factor]) for factor in axes})
        sharding = unproject(projection, mapping, rule.factor_sizes, mesh_or_ref, mesh)
        return _axes_by_factor(project_tensor(mapping, sharding, rule.factor_sizes, mesh))

    axes = in_dimensions(result, of_operand)
    if has_overflow(tensors[1]) or axes != result:
        axes = in_dimensions(operand, of_result)
    all_axes = [axes.get(factor, ()) for factor in range(len(rule.factor_sizes))]
    _set_axes(tensors, all_axes)
    return all_axes


def _axes_by_factor(tensor: TensorProjection) -> dict[int, Axes]:
    return {factor: sharding.axes for factor, sharding in tensor.factors.items()}


def _set_axes(tensors: list[TensorProjection], axes: list[Axes]) -> None:
    for tensor in tensors:
        for factor, sharding in tensor.factors.items():
            tensor.factors[factor] = sharding._replace(axes=axes[factor], overflow_axes=())


def _common_axes(tensors: list[TensorProjection], factor: int) -> Axes:
    axis_lists = [tensor.factors[factor].axes for tensor in tensors if factor in tensor.factors]
    common: Axes = axis_lists[0] if axis_lists else ()
    for axes in axis_lists[1:]:
        common = common_prefix(common, axes)
    return common


def _redistribute(
    axes: Axes, tensor: TensorProjection, mapping: TensorMapping, sizes: tuple[int, ...], mesh: Mesh
) -> None:
    """Replaces all axes of a tensor; those beyond all capacities are overflow axes of the last factor."""
    factors = [factor for dim in mapping.dims for factor in dim.factors if factor in tensor.factors]
    capacities = [sizes[factor] for factor in factors]
    assigned: list[Axes] = [()] * len(factors)
    # The next axis comes last.
    remaining = list(reversed(axes))
    while remaining:
        before = len(remaining), remaining[-1]
        for position in range(len(factors)):
            axis = remaining[-1]
            size = axis.size(mesh)
            divisor = gcd(capacities[position], size)
            if capacities[position] <= 1 or (divisor == 1 and size != 1):
                continue
            capacities[position] //= divisor
            if divisor == size:
                remaining.pop()
                assigned[position] = with_axis(assigned[position], axis, mesh)
                break
            major, remaining[-1] = split_axis(axis, divisor, size)
            assigned[position] = with_axis(assigned[position], major, mesh)
        if remaining and (len(remaining), remaining[-1]) == before:
            break
    for factor, factor_axes in zip(factors, assigned, strict=True):
        tensor.factors[factor] = tensor.factors[factor]._replace(axes=factor_axes, overflow_axes=())
    if factors:
        last = tensor.factors[factors[-1]]
        tensor.factors[factors[-1]] = last._replace(overflow_axes=with_axes((), reversed(remaining), mesh))
