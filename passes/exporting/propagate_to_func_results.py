"""sdy-propagate-to-func-results: copy the shardings of returned values to function results.

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

Propagation passes through calls to the values that the callee returns, but does not update the callee's
result attributes. This pass sets each result sharding to that of the returned value, and removes it if the
value has none or is on a single device. Result shardings of the entry point are user annotations and are
kept; its other results get shardings too. The entry point is the only function of the module, or else
`@main`, or else the only public function that is not called.
"""

from __future__ import annotations

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp, ReturnOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register

from ..common.support.function_shardings import is_maximal, main_function


@register("sdy-propagate-to-func-results")
class PropagateToFuncResults(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        main = main_function(module)
        for op in module.block.ops:
            if isinstance(op, FuncOp) and not op.is_declaration:
                _set_result_shardings(op, op is main, rewriter)
        return rewriter.changed


def _set_result_shardings(function: FuncOp, is_main: bool, rewriter: Rewriter) -> None:
    terminator = function.entry.terminator
    has_entry_point = Behavior.RESULTS_OF_ENTRY_POINT.active
    if not isinstance(terminator, ReturnOp) or (is_main and not has_entry_point):
        return
    # Without verification, a function may return more values than it has results.
    for index, value in enumerate(terminator.operands[: len(function.result_attributes)]):
        if is_main and SHARDING in function.result_attributes[index]:
            continue
        sharding = sharding_of(value)
        if sharding is not None and has_entry_point and is_maximal(sharding, function):
            sharding = None
        rewriter.set_result_attribute(function, index, SHARDING, sharding)
