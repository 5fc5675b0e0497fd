"""Sharding rules of the operations that put elements elsewhere: transpose, reverse, broadcasts, casts."""

from __future__ import annotations

from sdyopt.dialects.stablehlo.broadcast import BroadcastInDimOp
from sdyopt.dialects.stablehlo.conversion import BitcastConvertOp
from sdyopt.dialects.stablehlo.shapes import ReverseOp, TransposeOp
from sdyopt.ir.op_signature import OpSignature
from sdyopt.sharding.op_sharding_rule_builder import FactorType, OpShardingRuleBuilder
from sdyopt.sharding.op_sharding_rule_registry import sharding_rule


@sharding_rule(TransposeOp)
def transpose(signature: OpSignature, rule: OpShardingRuleBuilder) -> None:
    """([j, i])->([i, j])"""
    shape = signature.operand.shape
    for result_dim, dim in enumerate(signature.permutation):
        rule.add_factor(shape[dim], [dim], [result_dim])


@sharding_rule(ReverseOp)
def reverse(signature: OpSignature, rule: OpShardingRuleBuilder) -> None:
    """([i, j])->([i, j]) permutation={i}"""
    for dim, size in enumerate(signature.out.shape):
        rule.add_common_factor(
            dim, size, FactorType.PERMUTATION if dim in signature.dimensions else FactorType.PASS_THROUGH
        )


@sharding_rule(BroadcastInDimOp)
def broadcast_in_dim(signature: OpSignature, rule: OpShardingRuleBuilder) -> None:
    """([i, k])->([i, j, l]): k=1 becomes l, and j is new."""
    shape = signature.operand.shape
    origin = {result_dim: dim for dim, result_dim in enumerate(signature.broadcast_dimensions)}
    for result_dim, size in enumerate(signature.out.shape):
        dim = origin.get(result_dim)
        if dim is not None and shape[dim] == 1 != size:
            rule.add_factor(1, [dim], [None])
            dim = None
        rule.add_factor(size, [dim], [result_dim])


@sharding_rule(BitcastConvertOp)
def bitcast_convert(signature: OpSignature, rule: OpShardingRuleBuilder) -> None:
    """([i, j])->([i]) need_replication={j}: j are the small elements that a large one is made of."""
    shape, result_shape = signature.operand.shape, signature.out.shape
    rank, result_rank = len(shape), len(result_shape)
    rule.add_pointwise(min(shape, result_shape, key=len))
    if rank > result_rank:
        rule.add_factor(shape[-1], [rank - 1], [None], FactorType.NEED_REPLICATION)
    elif rank < result_rank:
        rule.add_factor(result_shape[-1], [None], [result_rank - 1], FactorType.NEED_REPLICATION)
