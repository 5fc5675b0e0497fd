"""Products whose operands are gathered, where this is at most half of what an all-reduce of the result is.

    %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : … -> tensor<64x64xf32>
    %2 = sdy.all_reduce {"x"} %1 out_sharding=<@mesh, [{}, {}]> : tensor<64x64xf32>
becomes, if %0 is sharded along "x" in its second dimension and %w is a slice of a replicated tensor,
    %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<64x8xf32>
    %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : … -> tensor<64x64xf32>

`sdy-insert-explicit-reshards` shards what is summed over if it is sharded in an operand. If such sums have
few terms, computing them on all devices takes the place of communication.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod

from sdyopt.mlir.dialects.sdy.axes import AxisRef, sorted_and_merged
from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.ops import ReshardOp
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp
from sdyopt.mlir.dialects.stablehlo.convolution import ConvolutionOp
from sdyopt.mlir.dialects.stablehlo.type_compatibility import bit_width
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import element_of
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.local_builder import shape_of
from sdyopt.shardy.partition.local_context import LocalTypes
from sdyopt.shardy.partition.replication import has_user_rule
from sdyopt.shardy.sharding.axis_lists import sharded_size
from sdyopt.shardy.sharding.op_sharding_rule_registry import sharding_rule_of
from sdyopt.shardy.sharding.reshard_to_collectives.plan import elements_of_reshard, shard_elements

from ...exporting.explicit_reshards.insertion import reshard_use
from .without_reshards import erase_unused

PRODUCTS = (DotGeneralOp, ConvolutionOp)
# An accelerator computes 2,000 to 4,500 operations in the time in which its link sends a byte. What is
# computed on all devices must be worth it by far.
_OPERATIONS_PER_BYTE = 500


def gather_instead_of_sum(op: Op, types: LocalTypes, rewriter: Rewriter) -> None:
    """Gathers the dimensions that a product sums over, if this communicates at most half."""
    if has_user_rule(op):
        return
    (result,) = op.results
    uses, sharding = list(result.uses), types.sharding(result)
    mesh = None if sharding is None else types.mesh(sharding)
    collective = uses[0].owner if len(uses) == 1 else None
    if sharding is None or mesh is None or not isinstance(collective, AllReduceOp):
        return
    targets = [_without_sums(op, number, types) for number in range(len(op.operands))]
    summed = _summed_axes(op, types, targets)
    if summed is None or sharding.unreduced_axes or collective.out_sharding.unreduced_axes:
        return
    axes = sorted_and_merged(collective.reduction_axes.axes, mesh)
    if sorted_and_merged(summed, mesh) != axes:
        return
    devices = sharded_size(axes, mesh)
    elements = shard_elements(shape_of(result), sharding, mesh)
    saved = Fraction(2 * (devices - 1), devices) * elements * _bits(result)
    more = Fraction(0)
    for value, target in zip(op.operands, targets, strict=True):
        if target is not None:
            gathered = _cost(value, target, mesh, types)
            if gathered is None:
                return
            more += gathered
    repeated = 2 * elements * _terms(op) * Fraction(devices - 1, devices)
    if 2 * more > saved or repeated > (saved - more) / 8 * _OPERATIONS_PER_BYTE:
        return
    for use, target in zip(op.operand_uses, targets, strict=True):
        if target is not None:
            reshard = use.value.defining_op
            if isinstance(reshard, ReshardOp):
                rewriter.set_operand(use, reshard.input)
                erase_unused([reshard], rewriter)
            reshard_use(use, target, {"before": op}, rewriter)
    rewriter.replace(collective, [result])


def _terms(op: Op) -> int:
    """The number of terms of the sum that each element of the result is."""
    rule = sharding_rule_of(op)
    return 1 if rule is None else prod(rule.factor_sizes[factor] for factor in rule.reduction)


def _without_sums(op: Op, number: int, types: LocalTypes) -> TensorSharding | None:
    """The sharding of an operand without the axes along which the operation sums; None if there are none."""
    rule, sharding = sharding_rule_of(op), types.sharding(op.operands[number])
    if rule is None or sharding is None:
        return None
    mapping = rule.operands[number]
    dims = [
        DimensionSharding() if set(factors.factors) & set(rule.reduction) else dim
        for dim, factors in zip(sharding.dims, mapping.dims, strict=True)
    ]
    return None if tuple(dims) == sharding.dims else sharding.with_dims(dims)


def _summed_axes(
    op: Op, types: LocalTypes, targets: Sequence[TensorSharding | None]
) -> Sequence[AxisRef] | None:
    """The axes along which the operation sums; None unless all operands lose the same ones."""
    removed: list[Sequence[AxisRef]] = []
    for value, target in zip(op.operands, targets, strict=True):
        sharding = types.sharding(value)
        if target is None or sharding is None or sharding.unreduced_axes:
            return None
        pairs = zip(sharding.dims, target.dims, strict=True)
        removed.append([axis for old, new in pairs if old.axes != new.axes for axis in old.axes])
    lhs, rhs = removed
    return lhs if lhs == rhs else None


def _cost(value: Value, target: TensorSharding, mesh: Mesh, types: LocalTypes) -> Fraction | None:
    """The bits that a device receives, if an operand gets a sharding instead of its own."""
    reshard, sharding = value.defining_op, types.sharding(value)
    is_resharded = isinstance(reshard, ReshardOp) and len(list(value.uses)) == 1
    source = types.sharding(reshard.input) if isinstance(reshard, ReshardOp) and is_resharded else sharding
    if source is None or sharding is None or source.mesh_or_ref is not target.mesh_or_ref:
        return None
    shape = shape_of(value)
    now, then = (elements_of_reshard(shape, source, goal, mesh) for goal in (sharding, target))
    return (then - now) * _bits(value)


def _bits(value: Value) -> int:
    element = element_of(value.type)
    assert element is not None
    return bit_width(element)
