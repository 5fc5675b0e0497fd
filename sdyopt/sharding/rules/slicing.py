"""Sharding rules of the operations that take parts of tensors, or make them parts of larger ones."""

from __future__ import annotations

from sdyopt.dialects.sdy.ops import ConstantOp
from sdyopt.dialects.stablehlo.concatenate_pad import ConcatenateOp, PadOp
from sdyopt.dialects.stablehlo.slicing import DynamicSliceOp, DynamicUpdateSliceOp, SliceOp
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.traits import CONSTANT_LIKE
from sdyopt.ir.value import Value
from sdyopt.sharding.op_sharding_rule_builder import FactorType, OpShardingRuleBuilder
from sdyopt.sharding.op_sharding_rule_registry import sharding_rule


@sharding_rule(SliceOp, PadOp)
def static_bounds(signature: OpSignature, rule: OpShardingRuleBuilder) -> None:
    """([i, j])->([i, j]) permutation={i}: what changes its size is moved, to places known beforehand."""
    rule.add_pointwise_with_type_for_mismatch(
        signature.operand.shape, signature.out.shape, FactorType.PERMUTATION, is_blocked=rule.is_conservative
    )


@sharding_rule(DynamicSliceOp)
def dynamic_slice(signature: OpSignature, rule: OpShardingRuleBuilder) -> None:
    """([i, j], [], [])->([i, j]) need_replication={i} blocked_propagation={i}"""
    rule.add_pointwise_with_type_for_mismatch(
        signature.operand.shape, signature.out.shape, FactorType.NEED_REPLICATION, is_blocked=True
    )


def _has_constant_indices(op: DynamicUpdateSliceOp) -> bool:
    return all(_is_constant(index) for index in op.start_indices)


@sharding_rule(DynamicUpdateSliceOp, seeing=_has_constant_indices)
def dynamic_update_slice(
    signature: OpSignature, rule: OpShardingRuleBuilder, has_constant_indices: bool
) -> None:
    """([i, k], [j, k], [], [])->([i, k]) need_replication={j}

    Each device puts in what belongs to its part of the operand, for which it needs all of the update
    unless the place is known beforehand.
    """
    factor_type = FactorType.PASS_THROUGH if has_constant_indices else FactorType.NEED_REPLICATION
    indices = [None] * len(signature.start_indices)
    for dim, (size, update_size) in enumerate(
        zip(signature.operand.shape, signature.update.shape, strict=True)
    ):
        if size == update_size:
            rule.add_factor(size, [dim, dim, *indices], [dim])
        else:
            rule.add_factor(size, [dim, None, *indices], [dim])
            rule.add_factor(update_size, [None, dim, *indices], [None], factor_type)


def _joins_slices(op: ConcatenateOp) -> bool:
    """Whether all operands are slices, or all are the same tensor and slices of it."""
    operands = op.inputs
    sliced = [isinstance(value.defining_op, SliceOp) for value in operands]
    return all(sliced) or (any(sliced) and len({_before_slice(value) for value in operands}) == 1)


@sharding_rule(ConcatenateOp, seeing=_joins_slices)
def concatenate(signature: OpSignature, rule: OpShardingRuleBuilder, joins_slices: bool) -> None:
    """([i, j], [i, j])->([i, j]) need_replication={i}, or permutation={i} if it joins slices"""
    for dim, size in enumerate(signature.out.shape):
        if dim != signature.dimension:
            rule.add_common_factor(dim, size)
        elif not rule.is_conservative:
            rule.add_common_factor(
                dim, size, FactorType.PERMUTATION if joins_slices else FactorType.NEED_REPLICATION
            )


def _before_slice(value: Value) -> Value:
    definition = value.defining_op
    return definition.operand if isinstance(definition, SliceOp) else value


def _is_constant(value: Value) -> bool:
    definition = value.defining_op
    return definition is not None and (
        isinstance(definition, ConstantOp) or CONSTANT_LIKE in definition.traits
    )
