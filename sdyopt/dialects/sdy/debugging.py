"""Attributes that tell how propagation came to its shardings, step by step.

    #sdy.propagation_edges<[{step-0 = [{"x" = operand-0 -> [result-0]}]}]>

In step 0 axis x went from operand 0 to result 0.
"""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.dialects.sdy.asm import attributes, called, integer, nested, parameter, unbracketed
from sdyopt.dialects.sdy.axes import AxisRef, axis_ref_text, parse_axis_ref
from sdyopt.dialects.sdy.dialect import sdy
from sdyopt.ir.attribute import Attribute
from sdyopt.syntax.cursor import Cursor
from sdyopt.syntax.spell import Speller

OPERAND, RESULT = "operand", "result"


@called("EdgeValueRefAttr")
class EdgeValueRef(Attribute):
    """`operand-0` or `result-1`: a value of the operation that has the attribute."""

    kind: str
    index: int
    dialect = "sdy"


@called("AxisToPropagationDetailsAttr")
class AxisPropagation(Attribute):
    """`{"x" = operand-0 -> [result-0]}`: where an axis came from, and where it went."""

    axis: AxisRef
    source: EdgeValueRef
    targets: tuple[EdgeValueRef, ...]
    dialect = "sdy"


@called("PropagationOneStepAttr")
class PropagationStep(Attribute):
    """`{step-0 = […]}`: what happened in one step."""

    index: int
    axes: tuple[AxisPropagation, ...]
    dialect = "sdy"


class PropagationEdges(Attribute):
    """All steps."""

    steps: tuple[PropagationStep, ...]
    dialect = "sdy"

    @property
    def axes(self) -> Iterator[AxisPropagation]:
        """What happened in all steps."""
        return (axis for step in self.steps for axis in step.axes)


def edges_problem(edges: PropagationEdges) -> str | None:
    """What is wrong with the steps, None if nothing is."""
    seen: set[int] = set()
    for step in edges.steps:
        if step.index < 0:
            return f"propagation edges have negative step index: {step.index}"
        if step.index in seen:
            return f"propagation edges have duplicate step index: {step.index}"
        seen.add(step.index)
        for entry in step.axes:
            problem = _targets_problem(step, entry)
            if problem is not None:
                return problem
    return None


def _targets_problem(step: PropagationStep, entry: AxisPropagation) -> str | None:
    for position, target in enumerate(entry.targets):
        if target is entry.source:
            return "propagation edges have a source that is the same as a target"
        if target in entry.targets[:position]:
            return (
                f"propagation edges have duplicate targets for step index: {step.index} "
                f"and axis: {entry.axis.name}"
            )
    return None


# --- Reading ------------------------------------------------------------------------------------


@sdy.attribute("edge_value_ref")
def parse_edge_value(cursor: Cursor) -> EdgeValueRef:
    owner = "EdgeValueRef"
    kind = parameter(cursor, owner, "type", "::mlir::sdy::EdgeNodeType", lambda: _kind(cursor))
    cursor.expect("-")
    return EdgeValueRef(kind, integer(cursor, owner, "index"))


def _kind(cursor: Cursor) -> str:
    start = cursor.skip()
    word = cursor.accept_word() or cursor.accept_string()
    if word is None:
        raise cursor.unexpected("expected valid keyword or string")
    if word not in (OPERAND, RESULT):
        raise cursor.error("expected ::mlir::sdy::EdgeNodeType to be one of: operand, result", start)
    return word


@unbracketed("axis_to_propagation_details", "{}")
def parse_axis_propagation(cursor: Cursor) -> AxisPropagation:
    owner = "AxisToPropagationDetails"
    cursor.expect("{")
    read_axis = lambda: nested(cursor, AxisRef, parse_axis_ref)  # noqa: E731
    axis = parameter(cursor, owner, "axis_name", "::mlir::sdy::AxisRefAttr", read_axis)
    cursor.expect("=")
    read_value = lambda: nested(cursor, EdgeValueRef, parse_edge_value)  # noqa: E731
    source = parameter(cursor, owner, "source", "::mlir::sdy::EdgeValueRefAttr", read_value)
    cursor.expect("->")
    cursor.expect("[")
    targets = attributes(cursor, owner, "targets", EdgeValueRef, parse_edge_value)
    cursor.expect("]")
    cursor.expect("}")
    return AxisPropagation(axis, source, targets)


@unbracketed("propagation_one_step", "{}")
def parse_step(cursor: Cursor) -> PropagationStep:
    owner = "PropagationOneStep"
    cursor.expect("{")
    cursor.expect("step")
    cursor.expect("-")
    index = integer(cursor, owner, "step_index")
    cursor.expect("=")
    cursor.expect("[")
    axes = attributes(cursor, owner, "axis_entries", AxisPropagation, parse_axis_propagation)
    cursor.expect("]")
    cursor.expect("}")
    return PropagationStep(index, axes)


@sdy.attribute("propagation_edges")
def parse_edges(cursor: Cursor) -> PropagationEdges:
    start = cursor.skip()
    cursor.expect("<")
    cursor.expect("[")
    edges = PropagationEdges(attributes(cursor, "PropagationEdges", "value", PropagationStep, parse_step))
    cursor.expect("]")
    cursor.expect(">")
    problem = edges_problem(edges)
    if problem is not None:
        raise cursor.error(problem, start)
    return edges


# --- Writing ------------------------------------------------------------------------------------


def _value_text(value: EdgeValueRef) -> str:
    return f"{value.kind}-{value.index}"


def _axis_text(entry: AxisPropagation) -> str:
    targets = ", ".join(map(_value_text, entry.targets))
    return f"{{{axis_ref_text(entry.axis)} = {_value_text(entry.source)} -> [{targets}]}}"


def _step_text(step: PropagationStep) -> str:
    return f"{{step-{step.index} = [{', '.join(map(_axis_text, step.axes))}]}}"


@sdy.spelling(EdgeValueRef)
def _spell_value(value: EdgeValueRef, speller: Speller) -> str:
    # With a blank, so that it can be read back.
    return f"edge_value_ref {_value_text(value)}"


@sdy.spelling(AxisPropagation)
def _spell_axis(entry: AxisPropagation, speller: Speller) -> str:
    return "axis_to_propagation_details" + _axis_text(entry)


@sdy.spelling(PropagationStep)
def _spell_step(step: PropagationStep, speller: Speller) -> str:
    return "propagation_one_step" + _step_text(step)


@sdy.spelling(PropagationEdges)
def _spell_edges(edges: PropagationEdges, speller: Speller) -> str:
    return f"propagation_edges<[{', '.join(map(_step_text, edges.steps))}]>"
