"""Common axes of two kinds of operations: reshapes with overflow axes, and dots whose result is resharded.

Reshapes: by `([ij])->([i, j])` with i=3 and j=4, a dimension of size 12 that is sharded along "x"=4 shards
neither factor: 4 has no divisor in common with i, and j could be sharded only if i were fully sharded. So "x"
is an overflow axis. It could still shard factor j after a reshard of the tensor. To find such axes, the axes
of the tensor with more shards are redistributed over the factors of operand and result separately, each axis
or sub-axis to the first factor with capacity for it; the common prefixes of both are the common axes.

There is nothing to find if operand and result have each axis at the same place: the number of equal blocks
into which the tensor is divided before the axis divides each of them.

XLA's SPMD partitioner redistributes nothing. With "x"=4 and i=6, it reshapes with the sharding of the result
if the operand can have it, else with what the result can have of that of the operand: "x":(1)2 shards i, and
the operand is gathered along "x":(2)2.

Dots:

    lhs [{}, {"x"}]    rhs [{"x"}, {"y"}]    result [{}, {"x"}]

"x" shards the contracting dimension, "y" a non-contracting dimension of the right operand, and the result is
sharded along "x" where this operand is sharded along "y".

Without a reshard of the result, "y" would be gathered and the result reduce-scattered along "x". With the
result sharded along "y" as the operand is, an all-reduce along "x" follows a dot with fewer operations per
device, and only the result is resharded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import gcd

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.sdy.axes import AxisRef, with_axes, with_axis
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.reduction_kind import ReductionKind
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule, TensorMapping
from sdyopt.mlir.dialects.sdy.sharding import MeshOrRef, TensorSharding
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp, MaxOp, MinOp
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import RankedShapedType, Type
from sdyopt.shardy.sharding.axis_lists import Axes, common_prefix, overlap, split_axis
from sdyopt.shardy.sharding.op_sharding_rule_builder import Reduction
from sdyopt.shardy.sharding.op_sharding_rule_registry import reduction_of
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


def better_dot_result_axes(
    rule: OpShardingRule, tensors: Sequence[TensorProjection], sizes: Sequence[int]
) -> tuple[int, Axes] | None:
    """The factor whose axes in the result should be replaced, and the new axes; None if there is none.

    The operands must be compatible, and conflict with the result in one factor only. This factor must be
    sharded in an operand that is not smaller than the result. In the result, it must have exactly the axes of
    the reduction factors.
    """
    lhs, rhs, result = tensors
    reduction_axes: Axes = ()
    non_contracting_axes: Axes = ()
    conflict: tuple[int, Axes] | None = None
    for factor in range(len(rule.factor_sizes)):
        in_lhs, in_rhs = lhs.factors.get(factor), rhs.factors.get(factor)
        if in_lhs is not None and in_rhs is not None:
            axes, size = in_lhs.axes, max(sizes[0], sizes[1])
            if axes != in_rhs.axes:
                return None
            if factor in rule.reduction:
                reduction_axes += axes
                continue
        else:
            in_operand, size = (in_lhs, sizes[0]) if in_lhs is not None else (in_rhs, sizes[1])
            if in_operand is None:
                return None
            axes = in_operand.axes
            if overlap(axes, non_contracting_axes):
                return None
            non_contracting_axes += axes
        in_result = result.factors.get(factor)
        if in_result is None:
            return None
        if in_result.axes == axes:
            continue
        if not axes or conflict is not None or sizes[2] > size:
            return None
        conflict = factor, axes
    if conflict is None:
        return None
    result_axes = result.factors[conflict[0]].axes
    return conflict if result_axes and result_axes == reduction_axes else None


# How the partial results of an operation are combined, by its body or as its sharding rule declares.
#
#     stablehlo.reduce with stablehlo.maximum   max
#     stablehlo.scatter with stablehlo.add      sum
#
# The operation that defines a value which the body returns decides, whatever its operands are, as in Shardy.


_KINDS: dict[type[Op] | None, ReductionKind] = {
    AddOp: ReductionKind.SUM,
    MaxOp: ReductionKind.MAX,
    MinOp: ReductionKind.MIN,
}

# Products, like other reductions without a kind of their own, count as sums until they are partitioned.
_DECLARED_KINDS: dict[Reduction | None, ReductionKind] = {
    Reduction.MAX: ReductionKind.MAX,
    Reduction.MIN: ReductionKind.MIN,
}


def reduction_kind(op: Op) -> ReductionKind | None:
    """The kind of reduction that combines the partial results of an operation.

    None if it has no single kind, such as an argmax, a reduction of several values: partitioning combines the
    partial results as the body does. A reduction of one value by any other body counts as a sum, except in
    jaxlib 0.11.2; partitioning knows better.
    """
    if not isinstance(op, ReduceOp | ScatterOp):
        return _DECLARED_KINDS.get(reduction_of(op), ReductionKind.SUM)
    kinds = {_KINDS.get(combiner) for combiner in _combiners(op)}
    kind = kinds.pop() if len(kinds) == 1 else None
    is_single = isinstance(op, ReduceOp) and len(op.results) == 1
    if kind is None and is_single and Behavior.REDUCTIONS_OF_NO_KIND.active:
        return ReductionKind.SUM
    return kind


def _combiners(op: ReduceOp | ScatterOp) -> set[type[Op] | None]:
    """The classes of the operations that define what the body returns; None for an argument of it."""
    (region,) = op.regions
    terminator = None if region.entry is None else region.entry.last
    values = () if terminator is None else terminator.operands
    return {None if value.defining_op is None else type(value.defining_op) for value in values}
