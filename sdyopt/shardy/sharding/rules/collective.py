"""Sharding rules of the collectives of StableHLO, and the operations that need no rule.

Those without a rule are structural, have no operands that are tensors, transfer data to or from the host,
reshard their operand, or are handled by propagation itself. Terminators and operations with data-flow edges
need no rule either, and are not listed.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.ops import ConstantOp as SdyConstantOp
from sdyopt.mlir.dialects.sdy.ops import PropagationBarrierOp, ReshardOp, ShardingGroupOp
from sdyopt.mlir.dialects.sdy.value_shardings import DataFlowEdgeOp, FuncDataFlowEdgeOp
from sdyopt.mlir.dialects.stablehlo.asynchronous import InfeedOp, OutfeedOp, RecvOp, SendOp
from sdyopt.mlir.dialects.stablehlo.collectives import (
    AllGatherOp,
    AllReduceOp,
    AllToAllOp,
    CollectiveBroadcastOp,
    CollectivePermuteOp,
    CrossReplicaSumOp,
    ReduceScatterOp,
)
from sdyopt.mlir.dialects.stablehlo.control_flow import GetTupleElementOp
from sdyopt.mlir.dialects.stablehlo.nullary import (
    AfterAllOp,
    ConstantOp,
    CreateTokenOp,
    IotaOp,
    PartitionIdOp,
)
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.shardy.sharding.op_sharding_rule_builder import (
    FactorType,
    NoRule,
    OpShardingRuleBuilder,
    sharding_rule,
)


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


_STRUCTURAL = (ModuleOp, FuncOp, CallOp, MeshOp, AfterAllOp, CreateTokenOp)
_NO_TENSOR_OPERANDS = (ConstantOp, SdyConstantOp, IotaOp, PartitionIdOp, GetTupleElementOp)
_HOST_TRANSFER = (InfeedOp, OutfeedOp, RecvOp, SendOp)
_HANDLED_BY_PROPAGATION = (
    DataFlowEdgeOp,
    FuncDataFlowEdgeOp,
    PropagationBarrierOp,
    ShardingGroupOp,
)


@sharding_rule(*_STRUCTURAL, *_NO_TENSOR_OPERANDS, *_HOST_TRANSFER, ReshardOp, *_HANDLED_BY_PROPAGATION)
def no_rule(signature: OpSignature, builder: OpShardingRuleBuilder) -> NoRule:
    return NoRule()
