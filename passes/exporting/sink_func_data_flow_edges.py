"""sdy-sink-func-data-flow-edges: replace function data-flow edges with shardings.

    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = sdy.func_data_flow_edge %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
    return %1 : tensor<8xf32>
becomes
    %0 = call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
    return %0 : tensor<8xf32>

The inverse of `sdy-add-func-data-flow-edges`, to be run after propagation. The function argument or call
result that is the input of an edge gets the sharding of the edge. If the edge has none, the sharding of the
input is from before propagation, and a fully open one replaces it. If the call had no shardings, its other
results get fully open ones.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.sharding import fully_replicated
from sdyopt.mlir.dialects.sdy.sharding_edits import set_sharding
from sdyopt.mlir.dialects.sdy.value_shardings import FuncDataFlowEdgeOp, sharding_of
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import FUNCTION, Pass
from sdyopt.mlir.registry import register


@register("sdy-sink-func-data-flow-edges")
class SinkFuncDataFlowEdges(Pass):
    anchor = FUNCTION

    def run(self, function: FuncOp) -> bool:
        rewriter = Rewriter()
        for edge in function.nested(FuncDataFlowEdgeOp):
            new, old = sharding_of(edge.output), sharding_of(edge.input)
            if new is None and old is not None:
                new = fully_replicated(old.rank, old.mesh_or_ref, is_closed=False)
            if new is not None:
                set_sharding(edge.input, new, rewriter)
            rewriter.replace(edge, [edge.input])
        return rewriter.changed
