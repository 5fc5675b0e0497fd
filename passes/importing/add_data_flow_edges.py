"""sdy-add-data-flow-edges: give every data-flow edge an operation that stands for it.

    %0 = stablehlo.while(%i = %a) : tensor<8xf32> attributes {
        sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} …
    return %0 : tensor<8xf32>
becomes
    %0 = stablehlo.while(%i = %a) : tensor<8xf32> attributes {…} …
    %1 = sdy.data_flow_edge %0 sharding=<@mesh, [{"x"}]> : tensor<8xf32>
    return %1 : tensor<8xf32>

What goes into a loop, round in it and out again is one value to propagation, though it has many names:
an operand of the loop, arguments of its regions, what the body returns, a result. Sources and targets
are joined by a data-flow edge, and one of the targets owns it. Behind each owner goes an operation that
keeps the sharding of the edge; it starts with the one that the owner has. Branches, barriers, manual
and named computations have edges as well.

Owners without a static shape, such as tokens, get none. `sdy-sink-data-flow-edges` takes the operations
away again.
"""

from __future__ import annotations

from sdyopt.dialects.builtin import ModuleOp
from sdyopt.ir.rewrite import Rewriter
from sdyopt.pipeline import Pass
from sdyopt.registry import register

from ..common.support.data_flow_edges import add_edges


@register("sdy-add-data-flow-edges")
class AddDataFlowEdges(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        for op in module.walk_post_order():
            if op.data_flow is not None:
                add_edges(op.data_flow.owners(op), rewriter)
        return rewriter.changed
