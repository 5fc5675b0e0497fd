"""sdy-propagate-sharding-from-func-to-call: copy function result shardings to calls.

    func.func @f(%a: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    …
    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
becomes
    %0 = call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
        : (tensor<8xf32>) -> tensor<8xf32>

Later passes clone, inline and re-create functions, which loses the result shardings of a function, so each
call gets a copy of them. A call that has shardings keeps them, even if they are empty.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import CallOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register
from sdyopt.shardy.record import Means, record_copy

from ..common.support.call_graph import called_function
from ..common.support.function_shardings import result_shardings


@register("sdy-propagate-sharding-from-func-to-call")
class PropagateShardingFromFuncToCall(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        for op in module.nested(CallOp):
            if SHARDING not in op.attributes:
                function = called_function(op)
                shardings = result_shardings(function)
                if shardings is not None:
                    for result, sharding in zip(op.results, shardings, strict=True):
                        record_copy(function, result, sharding, Means.CALL)
                    rewriter.set_attribute(op, SHARDING, shardings)
        return rewriter.changed
