"""sdy-sink-data-flow-edges: replace data-flow edges with shardings on their owners.

    %0 = stablehlo.optimization_barrier %a : tensor<8xf32>
    %1 = sdy.data_flow_edge %0 sharding=<@mesh, [{"x"}]> : tensor<8xf32>
    return %1 : tensor<8xf32>
becomes
    %0 = stablehlo.optimization_barrier %a {sdy.sharding =
        #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
    return %0 : tensor<8xf32>

The inverse of `sdy-add-data-flow-edges`, to be run after propagation. If an edge of the results of an
operation has a sharding, results without one get fully open shardings; the same applies to block arguments.
The input shardings of a manual computation get the manual axes back, before the free axes.

If the debug options are set, the sharding origins or propagation edges of the data-flow edges become array
attributes of the operation, one for results and one for block arguments, with one element for each data-flow
edge, empty if the edge has none.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.attribute_checks import PropagationEdges
from sdyopt.mlir.dialects.sdy.mesh import (
    BLOCK_ARGUMENT_ORIGINS,
    BLOCK_ARGUMENT_PROPAGATION_EDGES,
    ORIGINS,
    PROPAGATION_EDGES,
    RESULT_ORIGINS,
    RESULT_PROPAGATION_EDGES,
    SHARDING,
)
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp, NamedComputationOp
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue, with_manual_axes
from sdyopt.mlir.dialects.sdy.value_shardings import DataFlowEdgeOp, edge_of_owner
from sdyopt.mlir.ir.attribute import Attribute, DictAttr, array, dictionary
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import BlockArgument, Value
from sdyopt.mlir.pipeline import FUNCTION, Pass, option
from sdyopt.mlir.registry import register

from ..common.support.function_shardings import shardings_of_edges


@register("sdy-sink-data-flow-edges")
class SinkDataFlowEdges(Pass):
    anchor = FUNCTION

    sink_debug_sharding_origins: bool = option(
        default=False, help="copy the sharding origins of data-flow edges to the operations that own them"
    )
    sink_debug_propagation_edge_sharding: bool = option(
        default=False, help="copy the propagation edges of data-flow edges to the operations that own them"
    )

    def run(self, function: FuncOp) -> bool:
        rewriter = Rewriter()
        ops = list(function.walk())
        for op in ops:
            if op.data_flow is not None:
                self._sink(op, rewriter)
        for op in ops:
            if isinstance(op, DataFlowEdgeOp):
                rewriter.replace(op, [op.input])
        return rewriter.changed

    def _sink(self, op: Op, rewriter: Rewriter) -> None:
        owners = op.data_flow.owners(op)
        arguments = [owner for owner in owners if isinstance(owner, BlockArgument)]
        # Results that own no edge are replicated.
        results = op.results if len(owners) > len(arguments) else ()
        _set_shardings(op, "in_shardings", arguments, rewriter)
        self._sink_debug_info(
            op, arguments, BLOCK_ARGUMENT_ORIGINS, BLOCK_ARGUMENT_PROPAGATION_EDGES, rewriter
        )
        # The attribute of an operation that has the shardings of its results.
        result_shardings_name = (
            "out_shardings" if isinstance(op, ManualComputationOp | NamedComputationOp) else SHARDING
        )
        _set_shardings(op, result_shardings_name, results, rewriter)
        self._sink_debug_info(op, results, RESULT_ORIGINS, RESULT_PROPAGATION_EDGES, rewriter)

    def _sink_debug_info(
        self, op: Op, owners: Sequence[Value], origins_name: str, edges_name: str, rewriter: Rewriter
    ) -> None:
        flow_edges = [edge for owner in owners if (edge := edge_of_owner(owner)) is not None]
        with_empty = Behavior.DEBUG_INFO_OF_EVERY_EDGE.active
        if self.sink_debug_sharding_origins:
            origins = [edge.attributes.get(ORIGINS) for edge in flow_edges]
            entries: list[Attribute] = [
                origin if isinstance(origin, DictAttr) else dictionary({})
                for origin in origins
                if with_empty or isinstance(origin, DictAttr)
            ]
            rewriter.set_attribute(op, origins_name, array(entries))
        if self.sink_debug_propagation_edge_sharding:
            edges = [edge.attributes.get(PROPAGATION_EDGES) for edge in flow_edges]
            entries = [
                edge if isinstance(edge, PropagationEdges) else PropagationEdges(())
                for edge in edges
                if with_empty or (isinstance(edge, PropagationEdges) and edge.steps)
            ]
            rewriter.set_attribute(op, edges_name, array(entries))


def _set_shardings(op: Op, name: str, owners: Sequence[Value], rewriter: Rewriter) -> None:
    shardings = shardings_of_edges(owners)
    if shardings is None:
        return
    if isinstance(op, ManualComputationOp) and name == "in_shardings":
        pairs = zip(shardings, op.in_shardings, strict=True)
        in_shardings = [with_manual_axes(local, old, op.manual_axes) for local, old in pairs]
        shardings = ShardingPerValue(tuple(in_shardings))
    rewriter.set_attribute(op, name, shardings)
