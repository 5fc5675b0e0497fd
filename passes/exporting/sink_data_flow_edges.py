"""sdy-sink-data-flow-edges: take data-flow edges away, and give their shardings to what owns them.

    %0 = stablehlo.optimization_barrier %a : tensor<8xf32>
    %1 = sdy.data_flow_edge %0 sharding=<@mesh, [{"x"}]> : tensor<8xf32>
    return %1 : tensor<8xf32>
becomes
    %0 = stablehlo.optimization_barrier %a {sdy.sharding =
        #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
    return %0 : tensor<8xf32>

The opposite of `sdy-add-data-flow-edges`, when propagation is done. If one edge of an operation has a
sharding, those of its other edges become open ones. A manual computation keeps its manual axes, before
the free ones.

What propagation recorded at the edges, origins or propagation edges, is given to the operation if the
options say so: in lists, of those edges that have any.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.dialects.func import FuncOp
from sdyopt.dialects.sdy.attribute_names import (
    BLOCK_ARGUMENT_ORIGINS,
    BLOCK_ARGUMENT_PROPAGATION_EDGES,
    ORIGINS,
    PROPAGATION_EDGES,
    RESULT_ORIGINS,
    RESULT_PROPAGATION_EDGES,
    SHARDING,
)
from sdyopt.dialects.sdy.computation_ops import ManualComputationOp, NamedComputationOp
from sdyopt.dialects.sdy.manual_axes import with_manual_axes
from sdyopt.dialects.sdy.ops import DataFlowEdgeOp
from sdyopt.dialects.sdy.propagation_debug_attrs import PropagationEdges
from sdyopt.dialects.sdy.sharding import ShardingPerValue
from sdyopt.dialects.sdy.value_shardings import edge_of_owner
from sdyopt.ir.attribute import DictAttr, array
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.value import BlockArgument, Value
from sdyopt.pipeline import Pass, option
from sdyopt.registry import register

from ..common.support.data_flow_edges import shardings_of_edges


@register("sdy-sink-data-flow-edges")
class SinkDataFlowEdges(Pass):
    anchor = "func.func"

    sink_debug_sharding_origins: bool = option(
        default=False, help="give the origins of axes that edges have to what owns them"
    )
    sink_debug_propagation_edge_sharding: bool = option(
        default=False, help="give the propagation edges that edges have to what owns them"
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
        results = owners[len(arguments) :]
        _set_shardings(op, "in_shardings", arguments, rewriter)
        self._sink_records(op, arguments, BLOCK_ARGUMENT_ORIGINS, BLOCK_ARGUMENT_PROPAGATION_EDGES, rewriter)
        _set_shardings(op, _result_name(op), results, rewriter)
        self._sink_records(op, results, RESULT_ORIGINS, RESULT_PROPAGATION_EDGES, rewriter)

    def _sink_records(
        self, op: Op, owners: Sequence[Value], origins: str, edges: str, rewriter: Rewriter
    ) -> None:
        found = [edge for owner in owners if (edge := edge_of_owner(owner)) is not None]
        if self.sink_debug_sharding_origins:
            held = [edge.attributes.get(ORIGINS) for edge in found]
            rewriter.set_attribute(
                op, origins, array([words for words in held if isinstance(words, DictAttr)])
            )
        if self.sink_debug_propagation_edge_sharding:
            held = [edge.attributes.get(PROPAGATION_EDGES) for edge in found]
            told = [steps for steps in held if isinstance(steps, PropagationEdges) and steps.steps]
            rewriter.set_attribute(op, edges, array(told))


def _set_shardings(op: Op, name: str, owners: Sequence[Value], rewriter: Rewriter) -> None:
    shardings = shardings_of_edges(owners)
    if shardings is None:
        return
    if isinstance(op, ManualComputationOp) and name == "in_shardings":
        given = zip(shardings, op.in_shardings, strict=True)
        held = [with_manual_axes(inside, outside, op.manual_axes) for inside, outside in given]
        shardings = ShardingPerValue(tuple(held))
    rewriter.set_attribute(op, name, shardings)


def _result_name(op: Op) -> str:
    return "out_shardings" if isinstance(op, ManualComputationOp | NamedComputationOp) else SHARDING
