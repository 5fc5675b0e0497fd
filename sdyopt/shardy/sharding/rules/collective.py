"""Sharding rules of the collectives of StableHLO."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.dialects.stablehlo.collectives import (
    AllGatherOp,
    AllReduceOp,
    AllToAllOp,
    CollectiveBroadcastOp,
    CollectivePermuteOp,
    CrossReplicaSumOp,
    ReduceScatterOp,
)
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.shardy.sharding.op_sharding_rule_builder import FactorType, OpShardingRuleBuilder
from sdyopt.shardy.sharding.op_sharding_rule_table import sharding_rule


@sharding_rule(AllReduceOp, CollectiveBroadcastOp, CollectivePermuteOp, CrossReplicaSumOp)
def same_shape(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([i, j])->([i, j])"""
    builder.set_pointwise(signature.result_types[0])


@sharding_rule(AllGatherOp)
def all_gather(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([j, i])->([k, i]) need_replication={j, k}"""
    shape, result_shape = signature[AllGatherOp.inputs][0].shape, signature[AllGatherOp.out][0].shape
    _add_factors(builder, shape, result_shape, signature[AllGatherOp.all_gather_dim])


@sharding_rule(ReduceScatterOp)
def reduce_scatter(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([j, i])->([k, i]) need_replication={j, k}"""
    shape, result_shape = signature[ReduceScatterOp.value].shape, signature[ReduceScatterOp.out].shape
    _add_factors(builder, shape, result_shape, signature[ReduceScatterOp.scatter_dimension])


@sharding_rule(AllToAllOp)
def all_to_all(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([i, l, j])->([i, m, k]) need_replication={j, k, l, m}: j is split into k, l concatenated to m"""
    exchanged_dims = dict.fromkeys(
        (signature[AllToAllOp.split_dimension], signature[AllToAllOp.concat_dimension])
    )
    shape, result_shape = signature[AllToAllOp.inputs][0].shape, signature[AllToAllOp.out][0].shape
    _add_factors(builder, shape, result_shape, *exchanged_dims)


def _add_factors(
    builder: OpShardingRuleBuilder, shape: Sequence[int], result_shape: Sequence[int], *exchanged_dims: int
) -> None:
    """Adds need-replication factors for the exchanged dimensions, and pass-through factors for others."""
    for dim, size in enumerate(shape):
        if dim not in exchanged_dims:
            builder.add_common_factor(dim, size)
    for dim in exchanged_dims:
        builder.add_operand_factor(dim, shape[dim], FactorType.NEED_REPLICATION)
        builder.add_result_factor(dim, result_shape[dim], FactorType.NEED_REPLICATION)
