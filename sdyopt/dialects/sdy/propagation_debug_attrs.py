"""Attributes that tell how propagation came to its shardings, step by step.

    #sdy.propagation_edges<[{step-0 = [{"x" = operand-0 -> [result-0]}]}]>

In step 0 axis x went from operand 0 to result 0.
"""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.asm.parser.asm_parser import AsmParser
from sdyopt.asm.printer.attribute_printer import AttributePrinter
from sdyopt.dialects.sdy.attribute_parsing import (
    attributes,
    called,
    integer,
    nested,
    parameter,
    unbracketed,
)
from sdyopt.dialects.sdy.axes import AxisRef, axis_ref_text, parse_axis_ref
from sdyopt.dialects.sdy.dialect import sdy
from sdyopt.ir.attribute import Attribute

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
def parse_edge_value(parser: AsmParser) -> EdgeValueRef:
    owner = "EdgeValueRef"
    kind = parameter(parser, owner, "type", "::mlir::sdy::EdgeNodeType", lambda: _kind(parser))
    parser.expect("-")
    return EdgeValueRef(kind, integer(parser, owner, "index"))


def _kind(parser: AsmParser) -> str:
    start = parser.skip_trivia()
    word = parser.accept_word() or parser.accept_string()
    if word is None:
        raise parser.error_at_next_token("expected valid keyword or string")
    if word not in (OPERAND, RESULT):
        raise parser.error("expected ::mlir::sdy::EdgeNodeType to be one of: operand, result", start)
    return word


@unbracketed("axis_to_propagation_details", "{}")
def parse_axis_propagation(parser: AsmParser) -> AxisPropagation:
    owner = "AxisToPropagationDetails"
    parser.expect("{")
    read_axis = lambda: nested(parser, AxisRef, parse_axis_ref)  # noqa: E731
    axis = parameter(parser, owner, "axis_name", "::mlir::sdy::AxisRefAttr", read_axis)
    parser.expect("=")
    parse_value = lambda: nested(parser, EdgeValueRef, parse_edge_value)  # noqa: E731
    source = parameter(parser, owner, "source", "::mlir::sdy::EdgeValueRefAttr", parse_value)
    parser.expect("->")
    parser.expect("[")
    targets = attributes(parser, owner, "targets", EdgeValueRef, parse_edge_value)
    parser.expect("]")
    parser.expect("}")
    return AxisPropagation(axis, source, targets)


@unbracketed("propagation_one_step", "{}")
def parse_step(parser: AsmParser) -> PropagationStep:
    owner = "PropagationOneStep"
    parser.expect("{")
    parser.expect("step")
    parser.expect("-")
    index = integer(parser, owner, "step_index")
    parser.expect("=")
    parser.expect("[")
    axes = attributes(parser, owner, "axis_entries", AxisPropagation, parse_axis_propagation)
    parser.expect("]")
    parser.expect("}")
    return PropagationStep(index, axes)


@sdy.attribute("propagation_edges")
def parse_edges(parser: AsmParser) -> PropagationEdges:
    start = parser.skip_trivia()
    parser.expect("<")
    parser.expect("[")
    edges = PropagationEdges(attributes(parser, "PropagationEdges", "value", PropagationStep, parse_step))
    parser.expect("]")
    parser.expect(">")
    problem = edges_problem(edges)
    if problem is not None:
        raise parser.error(problem, start)
    return edges


# --- Writing ------------------------------------------------------------------------------------


def _value_text(value: EdgeValueRef) -> str:
    return f"{value.kind}-{value.index}"


def _axis_text(entry: AxisPropagation) -> str:
    targets = ", ".join(map(_value_text, entry.targets))
    return f"{{{axis_ref_text(entry.axis)} = {_value_text(entry.source)} -> [{targets}]}}"


def _step_text(step: PropagationStep) -> str:
    return f"{{step-{step.index} = [{', '.join(map(_axis_text, step.axes))}]}}"


@sdy.printer(EdgeValueRef)
def _print_value(value: EdgeValueRef, attribute_printer: AttributePrinter) -> str:
    # With a blank, so that it can be read back.
    return f"edge_value_ref {_value_text(value)}"


@sdy.printer(AxisPropagation)
def _print_axis(entry: AxisPropagation, attribute_printer: AttributePrinter) -> str:
    return "axis_to_propagation_details" + _axis_text(entry)


@sdy.printer(PropagationStep)
def _print_step(step: PropagationStep, attribute_printer: AttributePrinter) -> str:
    return "propagation_one_step" + _step_text(step)


@sdy.printer(PropagationEdges)
def _print_edges(edges: PropagationEdges, attribute_printer: AttributePrinter) -> str:
    return f"propagation_edges<[{', '.join(map(_step_text, edges.steps))}]>"
