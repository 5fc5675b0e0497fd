"""Records how propagation came to its shardings: what went where in which step, and where it came from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.func import FuncOp
from sdyopt.dialects.sdy.attribute_names import PROPAGATION_EDGES
from sdyopt.dialects.sdy.axes import AxisRef
from sdyopt.dialects.sdy.mesh import Mesh
from sdyopt.dialects.sdy.propagation_debug_attrs import (
    OPERAND,
    RESULT,
    AxisPropagation,
    EdgeValueRef,
    PropagationEdges,
    PropagationStep,
)
from sdyopt.dialects.sdy.rule import OpShardingRule, TensorMapping
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.sharding.axis_lists import Axes, is_prefix
from sdyopt.sharding.propagation.propagation_step import Step
from sdyopt.sharding.sharding_projection import TensorProjection

from ...common.support.constraint_debug_info import last_step
from ...common.support.sharding_origins import ShardingOrigins
from .propagation_sites import PropagationSite


class Move(NamedTuple):
    """An axis went from one tensor of an operation to another one, by number: operands, then results."""

    axis: AxisRef
    source: int
    target: int


class _Edge(NamedTuple):
    axis: AxisRef
    source: EdgeValueRef
    target: EdgeValueRef


class DebugInfoRecorder:
    """Origins of axes, or the edges that they went along, or both."""

    def __init__(self, module: ModuleOp, has_origins: bool, has_edges: bool, rewriter: Rewriter) -> None:
        self._rewriter = rewriter
        self._origins = ShardingOrigins(module, rewriter) if has_origins else None
        self._has_edges = has_edges
        # For each operation the edges, with the step in which each was first used.
        self._edges: dict[Op, dict[_Edge, int]] = {}
        self._step = last_step(module) + 1

    def record(self, site: PropagationSite, step: Step) -> None:
        """Takes note of a step that changes something."""
        for move in moves(site.rule, step):
            if self._has_edges:
                edge = _Edge(
                    move.axis, _reference(site.rule, move.source), _reference(site.rule, move.target)
                )
                self._edges.setdefault(site.op, {}).setdefault(edge, self._step)
            if self._origins is not None:
                self._origins.inherit(site.values[move.source], site.values[move.target], move.axis)
        self._step += 1

    def save(self) -> None:
        """Writes everything into attributes."""
        if self._origins is not None:
            self._origins.save()
        for op, edges in self._edges.items():
            if isinstance(op, FuncOp):
                # Of all results, as in the reference: each is the only result of its steps.
                self._rewriter.set_result_attribute(op, 0, PROPAGATION_EDGES, _attribute(edges))
            elif op.parent is not None:
                self._rewriter.set_attribute(op, PROPAGATION_EDGES, _attribute(edges))


def _reference(rule: OpShardingRule, number: int) -> EdgeValueRef:
    count = len(rule.operands)
    return EdgeValueRef(OPERAND, number) if number < count else EdgeValueRef(RESULT, number - count)


def _attribute(edges: dict[_Edge, int]) -> PropagationEdges:
    steps: dict[int, dict[tuple[AxisRef, EdgeValueRef], list[EdgeValueRef]]] = {}
    for edge, number in edges.items():
        steps.setdefault(number, {}).setdefault((edge.axis, edge.source), []).append(edge.target)
    return PropagationEdges(
        tuple([PropagationStep(number, _entries(steps[number])) for number in sorted(steps)])
    )


def _entries(
    targets: dict[tuple[AxisRef, EdgeValueRef], list[EdgeValueRef]],
) -> tuple[AxisPropagation, ...]:
    entries = [
        AxisPropagation(axis, source, tuple(sorted(found, key=_value_order)))
        for (axis, source), found in targets.items()
    ]
    entries.sort(key=lambda entry: (entry.axis.name, entry.axis.pre_size, entry.axis.reach))
    return tuple(entries)


def _value_order(value: EdgeValueRef) -> tuple[str, int]:
    return value.kind, value.index


# --- What moved in a step -------------------------------------------------------------------------


def moves(rule: OpShardingRule, step: Step) -> Iterator[Move]:
    """Each axis that a tensor got in a step, with the first tensor that had it there before."""
    for target, mapping in enumerate(rule.tensors):
        sources = _new_axes(mapping, step.before[target], step.after[target], step.before, step.mesh)
        for axis, source in sources.items():
            yield Move(axis, source, target)


def _new_axes(
    mapping: TensorMapping,
    old: TensorProjection,
    new: TensorProjection,
    before: Sequence[TensorProjection],
    mesh: Mesh,
) -> dict[AxisRef, int]:
    found: dict[AxisRef, int] = {}
    for dim in mapping.dims:
        previous: AxisRef | None = None
        for factor in dim.factors:
            held, got = old.factors.get(factor), new.factors.get(factor)
            if held is None or got is None or held.axes == got.axes:
                continue
            last = got.axes[-1]
            if previous is not None and previous.can_merge(last):
                # Parts of an axis that two factors got are one axis of the dimension.
                found.pop(previous, None)
                last = previous.merge(last, mesh)
            previous = got.axes[-1]
            source = _source(factor, got.axes, before)
            if source is not None:
                for axis in _additions(held.axes, (*got.axes[:-1], last)):
                    found.setdefault(axis, source)
    return found


def _additions(old: Axes, new: Axes) -> Axes:
    """What a list has that another one does not; of the last axis it may have had a part."""
    count = len(old)
    return new[count - 1 :] if old and old[-1] is not new[count - 1] else new[count:]


def _source(factor: int, axes: Axes, before: Sequence[TensorProjection]) -> int | None:
    for number, tensor in enumerate(before):
        held = tensor.factors.get(factor)
        if held is not None and is_prefix(axes, held.axes):
            return number
    return None
