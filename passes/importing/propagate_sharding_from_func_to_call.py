"""sdy-propagate-sharding-from-func-to-call: let calls say how their results are sharded.

    func.func @f(%a: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    …
    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
becomes
    %0 = call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
        : (tensor<8xf32>) -> tensor<8xf32>

Later passes look at calls and their callees one by one: functions are copied, put into one another and
taken out again, and what a function declares about its results would get lost on the way. So each call
repeats it. A call that says something already is left as it is, even if what it says is that its
results are not sharded.
"""

from __future__ import annotations

from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.func import CallOp
from sdyopt.dialects.sdy.attribute_names import SHARDING
from sdyopt.ir.rewrite import Rewriter
from sdyopt.pipeline import Pass
from sdyopt.registry import register

from ..common.support.call_graph import called_function
from ..common.support.function_shardings import result_shardings


@register("sdy-propagate-sharding-from-func-to-call")
class PropagateShardingFromFuncToCall(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        for op in module.walk():
            if isinstance(op, CallOp) and SHARDING not in op.attributes:
                shardings = result_shardings(called_function(op))
                if shardings is not None:
                    rewriter.set_attribute(op, SHARDING, shardings)
        return rewriter.changed
