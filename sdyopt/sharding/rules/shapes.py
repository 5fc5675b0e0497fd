"""Sharding rules of transpose, reverse, broadcast_in_dim and bitcast_convert."""

from __future__ import annotations

from sdyopt.dialects.stablehlo.broadcast import BroadcastInDimOp
from sdyopt.dialects.stablehlo.conversion import BitcastConvertOp
from sdyopt.dialects.stablehlo.shapes import ReverseOp, TransposeOp
from sdyopt.ir.op_signature import OpSignature
from sdyopt.sharding.op_sharding_rule_builder import FactorType, OpShardingRuleBuilder
from sdyopt.sharding.op_sharding_rule_registry import sharding_rule


@sharding_rule(TransposeOp)
def transpose(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([j, i])->([i, j])"""
    shape = signature[TransposeOp.operand].shape
    for result_dim, dim in enumerate(signature[TransposeOp.permutation]):
        builder.add_factor(shape[dim], [dim], [result_dim])


@sharding_rule(ReverseOp)
def reverse(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([i, j])->([i, j]) permutation={i}"""
    reversed_dims = signature[ReverseOp.dimensions]
    for dim, size in enumerate(signature[ReverseOp.out].shape):
        is_reversed = dim in reversed_dims
        builder.add_common_factor(
            dim, size, FactorType.PERMUTATION if is_reversed else FactorType.PASS_THROUGH
        )


@sharding_rule(BroadcastInDimOp)
def broadcast_in_dim(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([i, k])->([i, j, l]): k=1 is expanded to l, and j is a new dimension"""
    shape = signature[BroadcastInDimOp.operand].shape
    result_dims = signature[BroadcastInDimOp.broadcast_dimensions]
    operand_dims = {result_dim: dim for dim, result_dim in enumerate(result_dims)}
    for result_dim, size in enumerate(signature[BroadcastInDimOp.out].shape):
        dim = operand_dims.get(result_dim)
        if dim is not None and shape[dim] == 1 != size:
            builder.add_factor(1, [dim], [None])
            dim = None
        builder.add_factor(size, [dim], [result_dim])


@sharding_rule(BitcastConvertOp)
def bitcast_convert(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([i, j])->([i]) need_replication={j}: j narrow elements make up a wide one; or the reverse"""
    shape, result_shape = signature[BitcastConvertOp.operand].shape, signature[BitcastConvertOp.out].shape
    rank, result_rank = len(shape), len(result_shape)
    builder.add_pointwise(min(shape, result_shape, key=len))
    if rank > result_rank:
        builder.add_factor(shape[-1], [rank - 1], [None], FactorType.NEED_REPLICATION)
    elif rank < result_rank:
        builder.add_factor(result_shape[-1], [None], [result_rank - 1], FactorType.NEED_REPLICATION)
