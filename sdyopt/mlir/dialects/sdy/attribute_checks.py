"""The discardable attributes of sdy: their verification, and those that record propagation steps.

    #sdy.propagation_edges<[{step-0 = [{"x" = operand-0 -> [result-0]}]}]>

In step 0, axis "x" was propagated from operand 0 to result 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.ids import ErrorKind, about
from sdyopt.mlir.asm.format.attribute_format import (
    Parameter,
    attribute_format,
    dialect_attribute,
    integer,
    nested,
    nested_list,
)
from sdyopt.mlir.asm.parser.asm_parser import WRONG_KEYWORD, AsmParser
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.mesh import (
    BLOCK_ARGUMENT_PROPAGATION_EDGES,
    PROPAGATION_EDGES,
    RESULT_PROPAGATION_EDGES,
    SHARDING,
    SHARDING_RULE,
    sdy,
)
from sdyopt.mlir.dialects.sdy.mesh_op import common_mesh
from sdyopt.mlir.dialects.sdy.rule import DimMapping, OpShardingRule, TensorMapping, factor_symbol
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue, TensorSharding
from sdyopt.mlir.dialects.sdy.sharding_checks import check_sharding, check_shardings, errors_about
from sdyopt.mlir.dialects.sdy.value_shardings import (
    DataFlowEdgeOp,
    FuncDataFlowEdgeOp,
    sharding_of,
    sources_of_edge,
)
from sdyopt.mlir.ir.attribute import ArrayAttr, Attribute
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import FUNCTION
from sdyopt.mlir.ir.types import RankedShapedType, Type
from sdyopt.mlir.ir.value import Value

# --- On operations --------------------------------------------------------------------------------


_NO_SHARDINGS = ErrorKind(
    "should have a sharding attribute of type TensorShardingPerValueAttr",
    at="attribute sdy.sharding",
    help="on an operation write `sdy.sharding = #sdy.sharding_per_value<[<@mesh, […]>]>`",
)
_NO_SHARDING = ErrorKind(
    "should have a sharding attribute of type TensorShardingAttr",
    at="value",
    help="on an argument or result of a function write `sdy.sharding = #sdy.sharding<@mesh, […]>`",
)


def _check_op_attribute(op: Op, name: str, attribute: Attribute) -> None:
    check = _CHECKS.get(name)
    if check is not None:
        check(op, attribute)


def _check_op_sharding(op: Op, attribute: Attribute) -> None:
    if not isinstance(attribute, ShardingPerValue):
        raise op.op_error(_NO_SHARDINGS())
    check_shardings(op, attribute, op.signature.result_types, errors_about(op, "result"))


def _check_op_rule(op: Op, attribute: Attribute) -> None:
    if not isinstance(attribute, OpShardingRule):
        raise op.op_error(
            "should have a sharding rule attribute of type OpShardingRuleAttr for attr named "
            f"'{SHARDING_RULE}'"
        )
    check_rule(op, attribute)


def _check_op_edges(op: Op, attribute: Attribute) -> None:
    if not isinstance(attribute, PropagationEdges):
        raise op.op_error(
            "should have a propagation edges attribute of type PropagationEdgesAttr for attr named "
            f"'{PROPAGATION_EDGES}'"
        )
    values = [value for entry in attribute.axes for value in _values_of(op, entry)]
    shardings = [sharding for value in values if (sharding := sharding_of(value)) is not None]
    if not shardings:
        raise op.op_error("expected propagation edges attr to reference a sharding.")
    mesh = common_mesh(shardings, op)
    if mesh is None:
        raise op.op_error("expected a common mesh for propagation edges attr.")
    for entry in attribute.axes:
        if not mesh.has_axis(entry.axis.name):
            raise op.op_error("expected axis ref to be in one of the meshes")
        for reference in (entry.source, *entry.targets):
            _check_reference(op, reference)


def _values_of(op: Op, entry: AxisPropagation) -> list[Value]:
    """The values that an entry refers to; indices out of range are skipped."""
    result: list[Value] = []
    for reference in (entry.source, *entry.targets):
        values = _edge_operands(op) if reference.kind == OPERAND else op.results
        if 0 <= reference.index < len(values):
            result.append(values[reference.index])
    return result


def _edge_operands(op: Op) -> Sequence[Value]:
    """The values that an operand index refers to: operands, or the sources of a data-flow edge."""
    sources = sources_of_edge(op) if isinstance(op, DataFlowEdgeOp) else None
    return op.operands if sources is None else [use.value for use in sources]


def _check_reference(op: Op, reference: EdgeValueRef) -> None:
    if isinstance(op, FuncDataFlowEdgeOp) and reference.kind == OPERAND and reference.index >= 0:
        # The index refers to an operand of a call of the function. Because calls may be erased later, no
        # index is too large.
        return
    word, count = (
        ("an operand", len(_edge_operands(op)))
        if reference.kind == OPERAND
        else ("a result", len(op.results))
    )
    if not 0 <= reference.index < count:
        raise op.op_error(
            f"expected a value ref to have {word} index in range [0, {count}), got: {reference.index}"
        )


def _check_edge_lists(op: Op, attribute: Attribute) -> None:
    if not isinstance(attribute, ArrayAttr) or not all(isinstance(e, PropagationEdges) for e in attribute):
        raise op.op_error(
            "should have a propagation edges attribute of type ArrayAttr<PropagationEdgesAttr> for attr "
            f"named '{RESULT_PROPAGATION_EDGES}' or '{BLOCK_ARGUMENT_PROPAGATION_EDGES}'"
        )


_CHECKS: dict[str, Callable[[Op, Attribute], None]] = {
    SHARDING: _check_op_sharding,
    SHARDING_RULE: _check_op_rule,
    PROPAGATION_EDGES: _check_op_edges,
    RESULT_PROPAGATION_EDGES: _check_edge_lists,
    BLOCK_ARGUMENT_PROPAGATION_EDGES: _check_edge_lists,
}


# --- On arguments and results of functions --------------------------------------------------------


def _check_argument_attribute(op: Op, index: int, name: str, attribute: Attribute) -> None:
    if FUNCTION in op.traits:
        _check_function_attribute(op, "arg", index, name, attribute, op.function_type.inputs[index])  # type: ignore[attr-defined]


def _check_result_attribute(op: Op, index: int, name: str, attribute: Attribute) -> None:
    if FUNCTION in op.traits:
        _check_function_attribute(op, "result", index, name, attribute, op.function_type.results[index])  # type: ignore[attr-defined]


def _check_function_attribute(
    op: Op, word: str, index: int, name: str, attribute: Attribute, type: Type
) -> None:
    if name != SHARDING:
        return

    def error(message: str) -> DiagnosticError:
        return op.op_error(f"{word} {index} - " + about(message, side=word, index=index))

    if not isinstance(attribute, TensorSharding):
        raise error(_NO_SHARDING())
    check_sharding(op, attribute, type, error)


sdy.hints[SHARDING] = (
    "write `sdy.sharding = #sdy.sharding<@mesh, […]>` for an argument or result of a function, "
    "`sdy.sharding = #sdy.sharding_per_value<[<@mesh, […]>]>` for an operation"
)
# Enums that the documentation of Shardy lists, and that are no attributes of their own in C++ either.
sdy.hints["propagation_direction"] = (
    "a direction is a part of operations and of other attributes, written as FORWARD; in the generic form of "
    "an operation it is an i32"
)
sdy.hints["reduction_op"] = (
    "a reduction is a part of operations and of shardings, written as unreduced=max{…}; in the generic form "
    "of an operation it is an i32"
)
sdy.hints["edge_node_type"] = (
    "an edge is written as a part of `#sdy.propagation_edges`, as operand-0 or result-0"
)
sdy.verify_op_attribute = _check_op_attribute
sdy.nonlocal_attributes = frozenset({PROPAGATION_EDGES})
sdy.result_attributes = frozenset({SHARDING})
sdy.signature_attributes = frozenset({SHARDING_RULE})
sdy.verify_argument_attribute = _check_argument_attribute
sdy.verify_result_attribute = _check_result_attribute


def check_rule(op: Op, rule: OpShardingRule) -> None:
    """Checks the sharding rule attribute of an operation."""
    problem = rule_problem(rule, op.signature.operand_types, op.signature.result_types)
    if problem is not None:
        raise op.op_error(problem)


def rule_problem(rule: OpShardingRule, operands: Sequence[Type], results: Sequence[Type]) -> str | None:
    """The error of a rule for these operand and result types, None if it is valid."""
    factors: set[int] = set()
    verifier = _RuleVerifier(rule)
    return (
        verifier.mappings_problem(rule.operands, operands, "operand", factors)
        or verifier.mappings_problem(rule.results, results, "result", factors)
        or verifier.unused_problem(factors)
        or verifier.special_problem()
    )


# --- Mappings -------------------------------------------------------------------------------------


class _RuleVerifier:
    """The checks of a sharding rule."""

    def __init__(self, rule: OpShardingRule) -> None:
        self.rule = rule

    def mappings_problem(
        self, mappings: Sequence[TensorMapping], types: Sequence[Type], word: str, factors: set[int]
    ) -> str | None:
        """The error of the mappings of operands or results. Adds their factors to `factors`."""
        if len(types) != len(mappings):
            return f"number of {word}s and mappings must match: {len(types)} != {len(mappings)}"
        if not mappings:
            return (
                f"number of {word}s mappings cannot be 0. Op sharding rules can only be defined on "
                "operations "
                "with at least one operand and result."
            )
        for index, (mapping, type) in enumerate(zip(mappings, types, strict=True)):
            problem = self._mapping_problem(mapping, type, factors)
            if problem is not None:
                which = "-" if len(types) == 1 else f"{index} -"
                return f"{word} {which} {problem}"
        return None

    def _mapping_problem(self, mapping: TensorMapping, type: Type, factors: set[int]) -> str | None:
        if not isinstance(type, RankedShapedType) or not type.has_static_shape:
            return f"expected a ranked tensor with a static shape. type: '{plain_type(type)}'"
        if mapping.rank != type.rank:
            return f"mapping rank must match: {mapping.rank} != {type.rank}"
        single = _single_factors(mapping)
        if single is not None and max(single, default=-1) < len(self.rule.factor_sizes):
            factors |= single
            return None
        used: set[int] = set()
        for dim in mapping.dims:
            problem = self._dim_problem(dim, used)
            if problem is not None:
                return problem
        factors |= used
        return None

    def _dim_problem(self, dim: DimMapping, used: set[int]) -> str | None:
        if not dim.factors:
            return "dim mapping must have at least one factor"
        count = len(self.rule.factor_sizes)
        for factor in dim.factors:
            if not 0 <= factor < count:
                return (
                    f"expecting factor indices to be within 0<=...<num_factors; received: {factor}, "
                    f"num_factors: {count}"
                )
            if factor in used:
                return "cannot reuse factors for the same tensor value"
            if self.rule.factor_sizes[factor] == 1 and len(dim.factors) > 1:
                return "dim mapping can't have a factor of size 1 if there are multiple factors"
            used.add(factor)
        return None

    def unused_problem(self, used: set[int]) -> str | None:
        if len(used) == len(self.rule.factor_sizes):
            return None
        for factor, size in enumerate(self.rule.factor_sizes):
            if factor not in used:
                name = factor_symbol(factor)
                return f"has factor {name}={size} that isn't used in operand and result mappings"
        return None

    def special_problem(self) -> str | None:
        exclusive = (self.rule.reduction, self.rule.need_replication, self.rule.permutation)
        if not (any(exclusive) or self.rule.blocked_propagation):
            return None
        count = len(self.rule.factor_sizes)
        for factors in exclusive:
            problem = _factors_problem(factors, count)
            if problem is not None:
                return problem
        if len(set().union(*exclusive)) != sum(map(len, exclusive)):
            return (
                "a factor can only be in one of the reduction, need replication, or permutation factor sets"
            )
        problem = _factors_problem(self.rule.blocked_propagation, count)
        if problem is not None:
            return problem
        if any(mapping.has_factor(factor) for factor in self.rule.reduction for mapping in self.rule.results):
            return "reduction factor cannot be in result mappings"
        return None


@lru_cache(maxsize=4096)
def _single_factors(mapping: TensorMapping) -> frozenset[int] | None:
    """The factors of a tensor, if each dimension has exactly one and no other dimension has it."""
    if any(len(dim.factors) != 1 or dim.factors[0] < 0 for dim in mapping.dims):
        return None
    factors = frozenset([dim.factors[0] for dim in mapping.dims])
    return factors if len(factors) == len(mapping.dims) else None


# --- Special factors ------------------------------------------------------------------------------


def _factors_problem(factors: Sequence[int], count: int) -> str | None:
    if not factors:
        return None
    if list(factors) != sorted(factors):
        return "indices of special factors must be sorted"
    if len(set(factors)) != len(factors):
        return "indices of special factors must be unique"
    if factors[-1] >= count:
        return f"index must be less than {count}, got: {factors[-1]}"
    return None


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
