"""sdy-insert-func-call-reshards: set call result shardings to the callee's and insert reshards.

    %0 = call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>}
        : (tensor<8xf32>) -> tensor<8xf32>
    …
    func.func private @f(…) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
becomes
    %0 = call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
        : (tensor<8xf32>) -> tensor<8xf32>
    %1 = sdy.reshard %0 <@mesh, [{"y"}]> : tensor<8xf32>

After `sdy-unflatten-call-graph`, calls with different result shardings may share a callee. Each call gets the
callee's result shardings, and a result whose sharding changes is resharded to the old one after the call;
only the meshes and the axes of each dimension are compared. A result without a sharding is resharded to a
fully replicated one.

Results of a callee that declares no result shardings are fully replicated.

A result with other unreduced axes than that of the callee keeps its sharding, and `sdy-verify-unreduced-axes`
reports it: the program must combine partial results itself.
"""

from __future__ import annotations

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import CallOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.ops import ReshardOp
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue, TensorSharding, fully_replicated
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register

from ..common.support.call_graph import called_function
from ..common.support.function_shardings import result_shardings


@register("sdy-insert-func-call-reshards")
class InsertFuncCallReshards(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        for call in module.nested(CallOp):
            shardings = _callee_result_shardings(call)
            if shardings is not None:
                _set_result_shardings(call, shardings, rewriter)
        return rewriter.changed


def _callee_result_shardings(call: CallOp) -> ShardingPerValue | None:
    """The callee's result shardings, fully replicated if only the call has any; None if neither has any."""
    declared = result_shardings(called_function(call))
    of_call = call.attributes.get(SHARDING)
    if declared is not None or not isinstance(of_call, ShardingPerValue):
        return declared
    return ShardingPerValue(tuple([_replicated_like(sharding) for sharding in of_call]))


def _set_result_shardings(call: CallOp, shardings: ShardingPerValue, rewriter: Rewriter) -> None:
    """Sets the result shardings of a call, and reshards each result to the sharding that it had."""
    new = []
    for result, sharding in zip(call.results, shardings, strict=True):
        old = sharding_of(result)
        if Behavior.MISMATCHED_UNREDUCED_RESULTS.active:
            old = old or _replicated_like(sharding)
            if old.unreduced_axes != sharding.unreduced_axes:
                new.append(old)
                continue
        if not sharding.is_equivalent(old):
            attributes = {"sharding": old or _replicated_like(sharding)}
            reshard = rewriter.create(
                ReshardOp, [result], [result.type], attributes, after=call, location=call.lazy_location
            )
            rewriter.replace_uses_except(result, reshard.results[0], reshard)
        new.append(sharding)
    rewriter.set_attribute(call, SHARDING, ShardingPerValue(tuple(new)))


def _replicated_like(sharding: TensorSharding) -> TensorSharding:
    return fully_replicated(sharding.rank, sharding.mesh_or_ref, is_closed=True)
