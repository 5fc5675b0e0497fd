"""Sharding rules of the collectives of stablehlo, which work on what a device has of a tensor."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.dialects.stablehlo.collectives import (
    AllGatherOp,
    AllReduceOp,
    AllToAllOp,
    CollectiveBroadcastOp,
    CollectivePermuteOp,
    CrossReplicaSumOp,
    ReduceScatterOp,
)
from sdyopt.ir.op_signature import OpSignature
from sdyopt.sharding.op_sharding_rule_builder import FactorType, OpShardingRuleBuilder
from sdyopt.sharding.op_sharding_rule_registry import sharding_rule


@sharding_rule(AllReduceOp, CollectiveBroadcastOp, CollectivePermuteOp, CrossReplicaSumOp)
def same_shape(signature: OpSignature, rule: OpShardingRuleBuilder) -> None:
    """([i, j])->([i, j])"""
    rule.set_pointwise(signature.result_types[0])


@sharding_rule(AllGatherOp)
def all_gather(signature: OpSignature, rule: OpShardingRuleBuilder) -> None:
    """([j, i])->([k, i]) need_replication={j, k}"""
    _change_dimensions(rule, signature.inputs[0].shape, signature.out[0].shape, signature.all_gather_dim)


@sharding_rule(ReduceScatterOp)
def reduce_scatter(signature: OpSignature, rule: OpShardingRuleBuilder) -> None:
    """([j, i])->([k, i]) need_replication={j, k}"""
    _change_dimensions(rule, signature.value.shape, signature.out.shape, signature.scatter_dimension)


@sharding_rule(AllToAllOp)
def all_to_all(signature: OpSignature, rule: OpShardingRuleBuilder) -> None:
    """([i, l, j])->([i, m, k]) need_replication={j, k, l, m}: k is split, m is joined"""
    changed = dict.fromkeys((signature.split_dimension, signature.concat_dimension))
    _change_dimensions(rule, signature.inputs[0].shape, signature.out[0].shape, *changed)


def _change_dimensions(
    rule: OpShardingRuleBuilder, shape: Sequence[int], result_shape: Sequence[int], *changed: int
) -> None:
    """Devices differ in what they have along the changed dimensions."""
    for dim, size in enumerate(shape):
        if dim not in changed:
            rule.add_common_factor(dim, size)
    for dim in changed:
        rule.add_operand_factor(dim, shape[dim], FactorType.NEED_REPLICATION)
        rule.add_result_factor(dim, result_shape[dim], FactorType.NEED_REPLICATION)
