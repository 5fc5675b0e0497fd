"""sdy-propagate-to-func-results: let functions say how what they return is sharded.

    func.func private @f(%a: tensor<8xf32>) -> tensor<8xf32> {
      %0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
      return %0 : tensor<8xf32>
    }
becomes
    func.func private @f(%a: tensor<8xf32>)
        -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
      %0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
      return %0 : tensor<8xf32>
    }

Propagation goes through calls to the values that functions return, but not to the shardings that functions
declare for their results. Here these become the shardings of the values; where the value has none, what was
declared goes. How the results of the entry point are sharded is what its user asked for, and stays. That
is the only function of a module, or else `main`, which there has to be.
"""

from __future__ import annotations

from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.func import FuncOp, ReturnOp
from sdyopt.dialects.sdy.attribute_names import SHARDING
from sdyopt.dialects.sdy.value_shardings import sharding_of
from sdyopt.ir.rewrite import Rewriter
from sdyopt.pipeline import Pass
from sdyopt.registry import register

from ..common.support.main_function import main_function


@register("sdy-propagate-to-func-results")
class PropagateToFuncResults(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        main = main_function(module)
        for op in module.block.ops:
            if isinstance(op, FuncOp) and op is not main and not op.is_declaration:
                _declare_results(op, rewriter)
        return rewriter.changed


def _declare_results(function: FuncOp, rewriter: Rewriter) -> None:
    end = function.entry.terminator
    if isinstance(end, ReturnOp):
        for index, value in enumerate(end.operands):
            rewriter.set_result_attribute(function, index, SHARDING, sharding_of(value))
