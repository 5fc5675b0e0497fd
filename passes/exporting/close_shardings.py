"""sdy-close-shardings: say that no dimension may be split any further.

    %0 = … {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?}], replicated={"y"}>]>}
becomes
    %0 = … {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}

Open dimensions are an invitation to propagation. Once it is done, how every value is sharded is
settled, and what is left of the invitation goes; so do explicitly replicated axes, because in a
closed sharding an axis that is not mentioned is replicated anyway. Unreduced axes and priorities
stay. Shardings of arguments and results of functions, and of sdy's own operations, are closed too.
"""

from __future__ import annotations

from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.sdy.sharding import TensorSharding
from sdyopt.ir.rewrite import Rewriter
from sdyopt.pipeline import Pass
from sdyopt.registry import register

from ..common.support.shardings import transform_shardings


@register("sdy-close-shardings")
class CloseShardings(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        transform_shardings(module, TensorSharding.closed, rewriter)
        return rewriter.changed
