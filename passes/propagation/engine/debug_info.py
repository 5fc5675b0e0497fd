"""Records the origins of axes, and the edges along which each step propagated them."""

from __future__ import annotations

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.dialect import PROPAGATION_EDGES
from sdyopt.mlir.dialects.sdy.propagation_debug_attrs import (
    OPERAND,
    RESULT,
    AxisPropagation,
    EdgeValueRef,
    PropagationEdges,
    PropagationStep,
)
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.shardy.record import StepSite
from sdyopt.shardy.sharding.propagation.propagation_step import Shardings, StepRunner, propagated_axes

from ...common.support.sharding_origins import ShardingOrigins, last_step


class _Edge(NamedTuple):
    axis: AxisRef
    source: EdgeValueRef
    target: EdgeValueRef


class DebugInfoRecorder:
    """Records the origins of axes, or propagation edges, or both."""

    def __init__(self, module: ModuleOp, has_origins: bool, has_edges: bool, rewriter: Rewriter) -> None:
        self._rewriter = rewriter
        self._origins = ShardingOrigins(module, rewriter) if has_origins else None
        self._has_edges = has_edges
        # The edges of each operation, with the first step that propagated along each.
        self._edges: dict[Op, dict[_Edge, int]] = {}
        self._step = last_step(module) + 1

    def record(self, site: StepSite, runner: StepRunner, shardings: Shardings) -> None:
        """Records a step that has updates."""
        step = runner.run(site.rule, shardings)
        assert step is not None
        for propagated in propagated_axes(site.rule, step):
            if self._has_edges:
                source = _edge_value(site.rule, propagated.source)
                edge = _Edge(propagated.axis, source, _edge_value(site.rule, propagated.target))
                self._edges.setdefault(site.op, {}).setdefault(edge, self._step)
            if self._origins is not None:
                source_value, target_value = site.values[propagated.source], site.values[propagated.target]
                self._origins.inherit(source_value, target_value, propagated.axis)
        self._step += 1

    def save(self) -> None:
        """Writes the attributes."""
        if self._origins is not None:
            self._origins.save()
        for op, edges in self._edges.items():
            if isinstance(op, FuncOp):
                # As in Shardy, on result 0: every function result is result 0 of its own steps.
                self._rewriter.set_result_attribute(op, 0, PROPAGATION_EDGES, _attribute(edges))
            elif op.parent is not None:
                self._rewriter.set_attribute(op, PROPAGATION_EDGES, _attribute(edges))


def _edge_value(rule: OpShardingRule, index: int) -> EdgeValueRef:
    count = len(rule.operands)
    return EdgeValueRef(OPERAND, index) if index < count else EdgeValueRef(RESULT, index - count)


def _attribute(edges: dict[_Edge, int]) -> PropagationEdges:
    steps: dict[int, dict[tuple[AxisRef, EdgeValueRef], list[EdgeValueRef]]] = {}
    for edge, step in edges.items():
        steps.setdefault(step, {}).setdefault((edge.axis, edge.source), []).append(edge.target)
    return PropagationEdges(
        tuple([PropagationStep(step, _axis_propagations(steps[step])) for step in sorted(steps)])
    )


def _axis_propagations(
    targets: dict[tuple[AxisRef, EdgeValueRef], list[EdgeValueRef]],
) -> tuple[AxisPropagation, ...]:
    propagations = [
        AxisPropagation(axis, source, tuple(sorted(values, key=lambda value: (value.kind, value.index))))
        for (axis, source), values in targets.items()
    ]
    propagations.sort(key=lambda propagation: propagation.axis.sort_key)
    return tuple(propagations)
