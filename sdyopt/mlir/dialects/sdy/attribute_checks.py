"""Verifiers of sdy's discardable attributes: on operations of any dialect, function arguments and results."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.mlir.dialects.sdy.attribute_names import (
    BLOCK_ARGUMENT_PROPAGATION_EDGES,
    PROPAGATION_EDGES,
    RESULT_PROPAGATION_EDGES,
    SHARDING,
    SHARDING_RULE,
)
from sdyopt.mlir.dialects.sdy.data_flow_ops import DataFlowEdgeOp, FuncDataFlowEdgeOp
from sdyopt.mlir.dialects.sdy.dialect import sdy
from sdyopt.mlir.dialects.sdy.mesh_op import common_mesh
from sdyopt.mlir.dialects.sdy.propagation_debug_attrs import (
    OPERAND,
    AxisPropagation,
    EdgeValueRef,
    PropagationEdges,
)
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.dialects.sdy.rule_checks import check_rule
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue, TensorSharding
from sdyopt.mlir.dialects.sdy.sharding_checks import check_sharding, check_shardings
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of, sources_of_edge
from sdyopt.mlir.ir.attribute import ArrayAttr, Attribute
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import FUNCTION
from sdyopt.mlir.ir.types import Type
from sdyopt.mlir.ir.value import Value

# --- On operations --------------------------------------------------------------------------------


def _check_op_attribute(op: Op, name: str, attribute: Attribute) -> None:
    check = _CHECKS.get(name)
    if check is not None:
        check(op, attribute)


def _check_op_sharding(op: Op, attribute: Attribute) -> None:
    if not isinstance(attribute, ShardingPerValue):
        raise op.op_error("should have a sharding attribute of type TensorShardingPerValueAttr")
    check_shardings(
        op, attribute, op.signature.result_types, lambda message: op.op_error("result " + message)
    )


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
        return op.op_error(f"{word} {index} - {message}")

    if not isinstance(attribute, TensorSharding):
        raise error("should have a sharding attribute of type TensorShardingAttr")
    check_sharding(op, attribute, type, error)


sdy.hints[SHARDING] = (
    "write `sdy.sharding = #sdy.sharding<@mesh, […]>` for an argument or result of a function, "
    "`sdy.sharding = #sdy.sharding_per_value<[<@mesh, […]>]>` for an operation"
)
sdy.verify_op_attribute = _check_op_attribute
sdy.nonlocal_attributes = frozenset({PROPAGATION_EDGES})
sdy.verify_argument_attribute = _check_argument_attribute
sdy.verify_result_attribute = _check_result_attribute
