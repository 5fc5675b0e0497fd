"""Attributes that record which propagation step sharded a value, and from which value.

    #sdy.propagation_edges<[{step-0 = [{"x" = operand-0 -> [result-0]}]}]>

In step 0, axis "x" was propagated from operand 0 to result 0.
"""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.mlir.asm.format.attribute_format import (
    Parameter,
    attribute_format,
    dialect_attribute,
    integer,
    nested,
    nested_list,
)
from sdyopt.mlir.asm.parser.asm_parser import WRONG_KEYWORD, AsmParser
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.dialect import sdy
from sdyopt.mlir.ir.attribute import Attribute

OPERAND, RESULT = "operand", "result"
_NAMESPACE = "::mlir::sdy::"


@dialect_attribute(sdy, "edge_value_ref", "Sdy_EdgeValueRef")
class EdgeValueRef(Attribute):
    """`operand-0` or `result-1`: a value of the operation with the attribute."""

    kind: str
    index: int
    dialect = "sdy"

    @staticmethod
    def _parse_kind(parser: AsmParser) -> str:
        start = parser.skip_trivia()
        word = parser.accept_keyword() or parser.accept_string()
        if word is None:
            raise parser.error_at_next_token("expected valid keyword or string")
        if word not in (OPERAND, RESULT):
            raise parser.error(
                WRONG_KEYWORD(what="::mlir::sdy::EdgeNodeType", names="operand, result"), start
            )
        return word

    assembly = attribute_format(
        Parameter("kind", "type", f"{_NAMESPACE}EdgeNodeType", _parse_kind, str), "-", integer("index")
    )


@dialect_attribute(sdy, "axis_to_propagation_details", "Sdy_AxisToPropagationDetails", "{}")
class AxisPropagation(Attribute):
    """`{"x" = operand-0 -> [result-0]}`: the source and the targets of a propagated axis."""

    axis: AxisRef
    source: EdgeValueRef
    targets: tuple[EdgeValueRef, ...]
    dialect = "sdy"
    assembly = attribute_format(
        "{",
        nested("axis", AxisRef, "axis_name", _NAMESPACE),
        " = ",
        nested("source", EdgeValueRef, namespace=_NAMESPACE),
        " -> ",
        "[",
        nested_list("targets", EdgeValueRef),
        "]",
        "}",
    )


@dialect_attribute(sdy, "propagation_one_step", "Sdy_PropagationOneStep", "{}")
class PropagationStep(Attribute):
    """`{step-0 = […]}`: the axes that one step propagated."""

    index: int
    axes: tuple[AxisPropagation, ...]
    dialect = "sdy"
    assembly = attribute_format(
        "{",
        "step",
        "-",
        integer("index", "step_index"),
        " = ",
        "[",
        nested_list("axes", AxisPropagation, "axis_entries"),
        "]",
        "}",
    )

    def targets_problem(self, entry: AxisPropagation) -> str | None:
        for index, target in enumerate(entry.targets):
            if target is entry.source:
                return "propagation edges have a source that is the same as a target"
            if target in entry.targets[:index]:
                return (
                    f"propagation edges have duplicate targets for step index: {self.index} "
                    f"and axis: {entry.axis.name}"
                )
        return None


def edges_problem(edges: PropagationEdges) -> str | None:
    """The error of propagation edges, None if they are valid."""
    indices: set[int] = set()
    for step in edges.steps:
        if step.index < 0:
            return f"propagation edges have negative step index: {step.index}"
        if step.index in indices:
            return f"propagation edges have duplicate step index: {step.index}"
        indices.add(step.index)
        for entry in step.axes:
            problem = step.targets_problem(entry)
            if problem is not None:
                return problem
    return None


@dialect_attribute(sdy, "propagation_edges", "Sdy_PropagationEdges")
class PropagationEdges(Attribute):
    """The steps that changed the shardings of an operation."""

    steps: tuple[PropagationStep, ...]
    dialect = "sdy"
    assembly = attribute_format(
        "<", "[", nested_list("steps", PropagationStep, "value"), "]", ">", check=edges_problem
    )

    @property
    def axes(self) -> Iterator[AxisPropagation]:
        """The propagated axes of all steps."""
        return (axis for step in self.steps for axis in step.axes)
