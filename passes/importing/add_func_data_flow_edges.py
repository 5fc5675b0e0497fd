"""sdy-add-func-data-flow-edges: insert data-flow edges between calls and their callees.

    func.func private @f(%a: tensor<8xf32>) -> tensor<8xf32> { return %a : tensor<8xf32> }
    func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
      %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }
becomes
    func.func private @f(%a: tensor<8xf32>) -> tensor<8xf32> {
      %0 = sdy.func_data_flow_edge %a : tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
      %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
      %1 = sdy.func_data_flow_edge %0 : tensor<8xf32>
      return %1 : tensor<8xf32>
    }

Such an edge connects a function argument with the operands that all callers pass for it, and a call result
with the value that the callee returns. Shardings propagate along the edges without inlining. An edge
initially has the sharding of its input. The arguments of the entry point get no edges, because it has no
callers; the entry point is the only function of the module, or else `@main`, or else the only public function
that is not called. Values without a static shape, such as tokens, get no edges.
`sdy-sink-func-data-flow-edges` is the inverse.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.base.diagnostics.location import Location
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue
from sdyopt.mlir.dialects.sdy.value_shardings import FuncDataFlowEdgeOp, sharding_of
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register

from ..common.support.function_shardings import can_have_edge, expect_invalid_edges, main_function


@register("sdy-add-func-data-flow-edges")
class AddFuncDataFlowEdges(Pass):
    def run(self, module: ModuleOp) -> bool:
        main = main_function(module)
        edges = _EdgeInserter(Rewriter())
        expect_invalid_edges(module, FuncDataFlowEdgeOp, edges.rewriter)
        calls: list[CallOp] = []
        for op in module.walk():
            if isinstance(op, CallOp):
                calls.append(op)
            elif isinstance(op, FuncOp) and op is not main and not op.is_declaration:
                edges.add_to_arguments(op)
        for call in calls:
            edges.add_to_results(call)
        return edges.rewriter.changed


class _EdgeInserter:
    def __init__(self, rewriter: Rewriter) -> None:
        self.rewriter = rewriter

    def add_to_arguments(self, function: FuncOp) -> None:
        self._add(function.entry.arguments, function.entry.first, function.location)

    def add_to_results(self, call: CallOp) -> None:
        self._add(call.results, call.next, call.location)

    def _add(self, values: Sequence[Value], before: Op | None, location: Location) -> None:
        """Inserts an edge for each value, in order, and replaces its other uses."""
        assert before is not None, "calls and arguments are followed by a terminator"
        for value in values:
            if not can_have_edge(value):
                continue
            sharding = sharding_of(value)
            attributes: dict[str, Attribute] = {}
            if sharding is not None:
                attributes[SHARDING] = ShardingPerValue((sharding,))
            edge = self.rewriter.create(
                FuncDataFlowEdgeOp, [value], [value.type], attributes, before=before, location=location
            )
            self.rewriter.replace_uses_except(value, edge.result, edge)
