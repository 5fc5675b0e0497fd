"""sdy-merge-collectives: merge equal collectives on one value, and erase unused ones.

    %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
    %1 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
    %2 = stablehlo.add %0, %1 : tensor<8xf32>
becomes
    %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
    %2 = stablehlo.add %0, %0 : tensor<8xf32>

The result of a collective depends on its operand alone, so collectives of StableHLO that differ in their
channels are merged too. A reshard stands for the collectives that it will be lowered to; if it undoes another
one, the value before both is used. `cse` keeps equal
collectives, because C++ declares none of them free of memory effects. Like `cse`, the pass merges other equal
operations without memory effects too, and erases dead ones, unless `collectives-only` is set.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.sdy.collectives import CollectiveOp
from sdyopt.mlir.dialects.sdy.ops import ReshardOp
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.dialects.stablehlo.collectives import (
    AllGatherOp,
    AllReduceOp,
    AllToAllOp,
    CollectiveBroadcastOp,
    CollectivePermuteOp,
    CollectiveReduceOp,
    ReduceScatterOp,
)
from sdyopt.mlir.dialects.stablehlo.replica_groups import ChannelHandle
from sdyopt.mlir.ir.cse import CseDriver
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import Pass, option
from sdyopt.mlir.registry import register

STABLEHLO_COLLECTIVES = (
    *(AllGatherOp, AllReduceOp, AllToAllOp),
    *(CollectiveBroadcastOp, CollectivePermuteOp, CollectiveReduceOp, ReduceScatterOp),
)
_COLLECTIVES = (CollectiveOp, ReshardOp, *STABLEHLO_COLLECTIVES)
_CHANNEL = "channel_handle"


@register("sdy-merge-collectives")
class MergeCollectives(Pass):
    collectives_only: bool = option(
        default=False, help="leave operations other than collectives and reshards alone"
    )

    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        for op in module.nested(ReshardOp):
            if (value := _value_before(op)) is not None:
                rewriter.replace(op, [value])
        cse = CseDriver(rewriter, _without_channel, only_pure=self.collectives_only)
        for region in module.regions:
            cse.visit_region(region)
        cse.finish()
        return rewriter.changed


def _value_before(op: ReshardOp) -> Value | None:
    """The value before the reshard that a reshard undoes; None if it undoes none."""
    inner = op.input.defining_op
    if not isinstance(inner, ReshardOp) or inner is op:
        return None
    source = sharding_of(inner.input)
    return inner.input if source is not None and op.sharding.is_equivalent(source) else None


@cache
def _is_collective(op_class: type[Op]) -> bool:
    return issubclass(op_class, _COLLECTIVES)


def _without_channel(op: Op) -> Hashable | None:
    """All that the result of a collective depends on besides its operand; None for other operations."""
    if not _is_collective(type(op)):
        return None
    signature = op.signature
    if op.dialect_name == "sdy":
        return signature
    channel = signature.attributes.get(_CHANNEL)
    # Whether there is a channel decides between groups of replicas and groups of partitions.
    kind = (channel.type, channel.handle > 0) if isinstance(channel, ChannelHandle) else channel
    return signature.name, kind, signature.attributes.without(_CHANNEL), signature.result_types
