"""Dots that cost less if their result is resharded.

    lhs [{}, {"x"}]    rhs [{"x"}, {"y"}]    result [{}, {"x"}]

"x" shards the contracting dimension, "y" a non-contracting dimension of the right operand, and the result is
sharded along "x" where this operand is sharded along "y".

Without a reshard of the result, "y" would be gathered and the result reduce-scattered along "x". With the
result sharded along "y" as the operand is, an all-reduce along "x" follows a dot with fewer operations per
device, and only the result is resharded.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.sdy.reduction_kind import ReductionKind
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp, MaxOp, MinOp
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.shardy.sharding.axis_lists import Axes, overlap
from sdyopt.shardy.sharding.op_sharding_rule_builder import Reduction
from sdyopt.shardy.sharding.op_sharding_rule_registry import reduction_of
from sdyopt.shardy.sharding.sharding_projection import TensorProjection


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
