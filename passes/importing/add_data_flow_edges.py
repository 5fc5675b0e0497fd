"""sdy-add-data-flow-edges: insert an operation for every data-flow edge.

    %0 = stablehlo.while(%i = %a) : tensor<8xf32> attributes {
        sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} …
    return %0 : tensor<8xf32>
becomes
    %0 = stablehlo.while(%i = %a) : tensor<8xf32> attributes {…} …
    %1 = sdy.data_flow_edge %0 sharding=<@mesh, [{"x"}]> : tensor<8xf32>
    return %1 : tensor<8xf32>

A loop-carried value is a single value to propagation: the operand of the loop, the arguments of its regions,
the value that the body returns and the result have one sharding. A data-flow edge connects such sources and
targets, and one of the targets owns it. The pass inserts an operation after each owner, which stores the
sharding of the edge, initially that of the owner. `stablehlo.case` and `stablehlo.if`, optimization barriers,
manual computations and named computations have data-flow edges, too.

Owners without a static shape, such as tokens, get none. `sdy-sink-data-flow-edges` is the inverse.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.sdy.value_shardings import DataFlowEdgeOp
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register

from ..common.support.function_shardings import add_edges, expect_invalid_edges


@register("sdy-add-data-flow-edges")
class AddDataFlowEdges(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        expect_invalid_edges(module, DataFlowEdgeOp, rewriter)
        for op in module.walk_post_order():
            if op.data_flow is not None:
                add_edges(op.data_flow.owners(op), rewriter)
        return rewriter.changed
