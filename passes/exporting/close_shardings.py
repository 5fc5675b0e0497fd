"""sdy-close-shardings: close every dimension sharding.

    %0 = … {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?}], replicated={"y"}>]>}
becomes
    %0 = … {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}

Open dimensions let propagation add axes. After propagation the shardings are final, so this pass closes all
dimensions and drops explicitly replicated axes: in a closed sharding, an axis that is not mentioned is
replicated. Unreduced axes and priorities are kept; as in Shardy, it is an error if a dimension sharding
without axes has a priority. The shardings of function arguments and results and those of sdy operations are
closed too.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register

from ..common.support.function_shardings import transform_shardings


@register("sdy-close-shardings")
class CloseShardings(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        transform_shardings(module, TensorSharding.closed, rewriter)
        return rewriter.changed
