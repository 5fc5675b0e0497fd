"""Sharding rules of slice, pad, dynamic_slice, dynamic_update_slice and concatenate."""

from __future__ import annotations

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.sdy.ops import ConstantOp
from sdyopt.mlir.dialects.stablehlo.concatenate_pad import ConcatenateOp, PadOp
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicSliceOp, DynamicUpdateSliceOp, SliceOp
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.traits import CONSTANT_LIKE
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.sharding.op_sharding_rule_builder import FactorType, OpShardingRuleBuilder
from sdyopt.shardy.sharding.op_sharding_rule_table import sharding_rule


@sharding_rule(SliceOp)
def slice(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([i, j])->([i, j]) permutation={i}, where i is sliced"""
    builder.add_pointwise_with_type_for_mismatch(
        signature[SliceOp.operand].shape,
        signature[SliceOp.out].shape,
        FactorType.PERMUTATION,
        is_mismatch_blocked=builder.is_conservative,
    )


@sharding_rule(PadOp)
def pad(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([i, j], [])->([i, j]) permutation={i}, where i is padded"""
    shape, result_shape = signature[PadOp.operand].shape, signature[PadOp.out].shape
    by_padding = Behavior.PERMUTATION_OF_PADDED_DIMS.active
    paddings = zip(*[signature[amount] for amount in _PADDING], strict=True)
    for dim, (size, result_size, padding) in enumerate(zip(shape, result_shape, paddings, strict=True)):
        is_resized = size != result_size
        is_padded = is_resized or (by_padding and any(padding))
        builder.add_common_factor(
            dim,
            size,
            FactorType.PERMUTATION if is_padded else FactorType.PASS_THROUGH,
            is_blocked=is_resized and builder.is_conservative,
        )


_PADDING = (PadOp.edge_padding_low, PadOp.edge_padding_high, PadOp.interior_padding)


@sharding_rule(DynamicSliceOp)
def dynamic_slice(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([i, j], [], [])->([i, j]) need_replication={i} blocked_propagation={i}"""
    builder.add_pointwise_with_type_for_mismatch(
        signature[DynamicSliceOp.operand].shape,
        signature[DynamicSliceOp.out].shape,
        FactorType.NEED_REPLICATION,
        is_mismatch_blocked=True,
    )


def _has_constant_indices(op: DynamicUpdateSliceOp) -> bool:
    return all(_is_constant(index) for index in op.start_indices)


@sharding_rule(DynamicUpdateSliceOp, context=_has_constant_indices)
def dynamic_update_slice(
    signature: OpSignature, builder: OpShardingRuleBuilder, has_constant_indices: bool
) -> None:
    """([i, k], [j, k], [], [])->([i, k]) permutation={i, j}"""
    if Behavior.PERMUTED_UPDATES.active:
        operand_type = update_type = FactorType.PERMUTATION
    else:  # each device updates its own shard, by the whole update unless the start indices are constants
        operand_type = FactorType.PASS_THROUGH
        update_type = operand_type if has_constant_indices else FactorType.NEED_REPLICATION
    shape = signature[DynamicUpdateSliceOp.operand].shape
    update_shape = signature[DynamicUpdateSliceOp.update].shape
    indices = [None] * len(signature[DynamicUpdateSliceOp.start_indices])
    for dim, (size, update_size) in enumerate(zip(shape, update_shape, strict=True)):
        if size == update_size:
            builder.add_factor(size, [dim, dim, *indices], [dim])
        else:
            builder.add_factor(size, [dim, None, *indices], [dim], operand_type)
            builder.add_factor(update_size, [None, dim, *indices], [None], update_type)


def _concatenates_slices(op: ConcatenateOp) -> bool:
    """Whether all operands are slices, or some are slices of a tensor and the others this tensor."""
    operands = op.inputs
    are_slices = [isinstance(value.defining_op, SliceOp) for value in operands]
    return all(are_slices) or (any(are_slices) and len({_sliced_value(value) for value in operands}) == 1)


@sharding_rule(ConcatenateOp, context=_concatenates_slices)
def concatenate(signature: OpSignature, builder: OpShardingRuleBuilder, are_slices: bool) -> None:
    """([i, j], [i, j])->([i, j]) need_replication={i}, or permutation={i} if the operands are slices"""
    concatenated_dim = signature[ConcatenateOp.dimension]
    for dim, size in enumerate(signature[ConcatenateOp.out].shape):
        if dim != concatenated_dim:
            builder.add_common_factor(dim, size)
        elif not builder.is_conservative:
            builder.add_common_factor(
                dim, size, FactorType.PERMUTATION if are_slices else FactorType.NEED_REPLICATION
            )


def _sliced_value(value: Value) -> Value:
    definition = value.defining_op
    return definition.operand if isinstance(definition, SliceOp) else value


def _is_constant(value: Value) -> bool:
    definition = value.defining_op
    return definition is not None and (
        isinstance(definition, ConstantOp) or CONSTANT_LIKE in definition.traits
    )
