"""sdy-insert-func-call-reshards: let calls have the shardings of the functions that they call.

    %0 = call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>}
        : (tensor<8xf32>) -> tensor<8xf32>
    …
    func.func private @f(…) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
becomes
    %0 = call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
        : (tensor<8xf32>) -> tensor<8xf32>
    %1 = sdy.reshard %0 <@mesh, [{"y"}]> : tensor<8xf32>

After `sdy-unflatten-call-graph`, calls that propagation sharded differently may share a function, which
gives its results in one way only. Each call says so, and what it had before is given back by a reshard
behind it, where that differs; whether a dimension is open or closed makes no difference. A call that had
no sharding is brought to one that splits nothing.

A function that says nothing of its results gives them whole.
"""

from __future__ import annotations

from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.func import CallOp
from sdyopt.dialects.sdy.attribute_names import SHARDING
from sdyopt.dialects.sdy.ops import ReshardOp
from sdyopt.dialects.sdy.sharding import ShardingPerValue, TensorSharding, fully_replicated
from sdyopt.dialects.sdy.value_shardings import sharding_of
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.value import Value
from sdyopt.pipeline import Pass
from sdyopt.registry import register

from ..common.support.call_graph import called_function
from ..common.support.function_shardings import result_shardings


@register("sdy-insert-func-call-reshards")
class InsertFuncCallReshards(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        for op in module.walk():
            if isinstance(op, CallOp):
                given = _given_shardings(op)
                if given is not None:
                    _take(op, given, rewriter)
        return rewriter.changed


def _given_shardings(call: CallOp) -> ShardingPerValue | None:
    """How a callee gives its results; None if neither it nor the call speaks of shardings."""
    declared = result_shardings(called_function(call))
    wanted = call.attributes.get(SHARDING)
    if declared is not None or not isinstance(wanted, ShardingPerValue):
        return declared
    return ShardingPerValue(tuple([_whole(sharding) for sharding in wanted]))


def _take(call: CallOp, given: ShardingPerValue, rewriter: Rewriter) -> None:
    """Lets a call give its results as its callee does, and brings them to how they are wanted."""
    for result, sharding in zip(call.results, given, strict=True):
        wanted = sharding_of(result)
        if not sharding.is_equivalent(wanted):
            _reshard(result, wanted or _whole(sharding), call, rewriter)
    rewriter.set_attribute(call, SHARDING, given)


def _reshard(result: Value, wanted: TensorSharding, call: CallOp, rewriter: Rewriter) -> None:
    attributes = {"sharding": wanted}
    reshard = rewriter.create(
        ReshardOp, [result], [result.type], attributes, after=call, location=call.location
    )
    rewriter.replace_uses_except(result, reshard.results[0], reshard)


def _whole(sharding: TensorSharding) -> TensorSharding:
    return fully_replicated(sharding.rank, sharding.mesh_or_ref, is_closed=True)
