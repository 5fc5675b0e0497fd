"""The operations that need no sharding rule.

They are structural, have no operands that are tensors, transfer data to or from the host, reshard their
operand, or are handled by propagation itself. Terminators and operations with data-flow edges need no rule
either, and are not listed.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.ops import ConstantOp as SdyConstantOp
from sdyopt.mlir.dialects.sdy.ops import PropagationBarrierOp, ReshardOp, ShardingGroupOp
from sdyopt.mlir.dialects.sdy.value_shardings import DataFlowEdgeOp, FuncDataFlowEdgeOp
from sdyopt.mlir.dialects.stablehlo.asynchronous import InfeedOp, OutfeedOp, RecvOp, SendOp
from sdyopt.mlir.dialects.stablehlo.nullary import (
    AfterAllOp,
    ConstantOp,
    CreateTokenOp,
    IotaOp,
    PartitionIdOp,
)
from sdyopt.mlir.dialects.stablehlo.tuple_composite import GetTupleElementOp
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.shardy.sharding.op_sharding_rule_builder import OpShardingRuleBuilder
from sdyopt.shardy.sharding.op_sharding_rule_table import NoRule, sharding_rule

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
