"""The operations that rightly have no sharding rule.

They stand for the program's structure, have nothing to shard, or are taken care of elsewhere. So are
operations with data-flow edges and terminators, which need not be named.
"""

from __future__ import annotations

from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.func import CallOp, FuncOp
from sdyopt.dialects.sdy.mesh_op import MeshOp
from sdyopt.dialects.sdy.ops import (
    ConstantOp as SdyConstantOp,
)
from sdyopt.dialects.sdy.ops import (
    DataFlowEdgeOp,
    FuncDataFlowEdgeOp,
    PropagationBarrierOp,
    ReshardOp,
    ShardingGroupOp,
)
from sdyopt.dialects.stablehlo.host_transfer import InfeedOp, OutfeedOp, RecvOp, SendOp
from sdyopt.dialects.stablehlo.nullary import (
    AfterAllOp,
    ConstantOp,
    CreateTokenOp,
    IotaOp,
    PartitionIdOp,
)
from sdyopt.dialects.stablehlo.tuple_composite import GetTupleElementOp
from sdyopt.ir.op_signature import OpSignature
from sdyopt.sharding.op_sharding_rule_builder import OpShardingRuleBuilder
from sdyopt.sharding.op_sharding_rule_registry import NoRule, sharding_rule

_STRUCTURE = (ModuleOp, FuncOp, CallOp, MeshOp, AfterAllOp, CreateTokenOp)
_NOTHING_TO_SHARD = (ConstantOp, SdyConstantOp, IotaOp, PartitionIdOp, GetTupleElementOp)
_TRANSFER = (InfeedOp, OutfeedOp, RecvOp, SendOp)
_BY_PROPAGATION = (DataFlowEdgeOp, FuncDataFlowEdgeOp, PropagationBarrierOp, ReshardOp, ShardingGroupOp)


@sharding_rule(*_STRUCTURE, *_NOTHING_TO_SHARD, *_TRANSFER, *_BY_PROPAGATION)
def no_rule(signature: OpSignature, rule: OpShardingRuleBuilder) -> NoRule:
    return NoRule()
