"""Sharding origins: the annotation that each axis of a sharding originates in.

The origin of an axis is the name of the sharding constraint, manual computation, function input or function
output from whose sharding it has propagated; if these share a value, it is the first in this order. Values
store the origins of their axes in `sdy.sharding_origins`; `self` stands for the value itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.attribute_checks import (
    OPERAND,
    RESULT,
    AxisPropagation,
    EdgeValueRef,
    PropagationEdges,
    PropagationStep,
)
from sdyopt.mlir.dialects.sdy.axes import AxisRef, axis_ref_text
from sdyopt.mlir.dialects.sdy.mesh import ORIGIN_NAME, ORIGINS, PROPAGATION_EDGES, SHARDING, SHARDING_RULE
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp, ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import (
    DataFlowEdgeOp,
    edge_of,
    owning_op,
    shardable_value,
    sharding_of,
)
from sdyopt.mlir.ir.attribute import ArrayAttr, Attribute, DictAttr, StringAttr, array, dictionary, string
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value

SELF = string("self")

# Shardy's name for the origin of an axis that a value without an origin name had before propagation.
UNKNOWN_ORIGIN = ": 0"


class ShardingOrigins:
    """The origin of every axis in the sharding of every value."""

    def __init__(self, module: ModuleOp, rewriter: Rewriter) -> None:
        self._module = module
        self._rewriter = rewriter
        self._origins: dict[Value, dict[AxisRef, str]] = {}
        for number, constraint in enumerate(module.nested(ShardingConstraintOp)):
            self._add_constraint(constraint, f"constraint_{number}")
        for number, computation in enumerate(module.nested(ManualComputationOp)):
            self._add_computation(computation, f"mc_{number}")
        for function in _functions(module):
            self._add_function(function)

    def copy(self, source: Value, target: Value, axes: list[AxisRef]) -> None:
        """Copies the origins of axes that have propagated from one value to another."""
        for axis in axes:
            origin = self._origins[_shardable(source)][axis]
            self._origins.setdefault(_shardable(target), {}).setdefault(axis, origin)

    def inherit(self, source: Value, target: Value, axis: AxisRef) -> None:
        """Like `copy`, but the axis may also contain an axis of the source, or be contained in one."""
        if shardable_value(target) is None:
            return  # its sharding is not stored
        origins = self._origins.get(_shardable(source), {})
        related = (
            origin for other, origin in origins.items() if other.contains(axis) or axis.contains(other)
        )
        origin = origins.get(axis) or next(related, None)
        if origin is None:
            if Behavior.NO_UNKNOWN_ORIGINS.active:
                return
            origin = UNKNOWN_ORIGIN
        self._origins.setdefault(_shardable(target), {}).setdefault(axis, origin)

    def _add(self, value: Value, sharding: TensorSharding | None, name: str) -> None:
        if sharding is None:
            return
        for dim in sharding.dims:
            for axis in dim.axes:
                self._origins.setdefault(_shardable(value), {}).setdefault(axis, name)

    def _add_constraint(self, op: ShardingConstraintOp, name: str) -> None:
        self._rewriter.set_attribute(op, ORIGIN_NAME, string(name))
        self._add(op.output, op.sharding, name)
        self._add(op.input, sharding_of(op.input), name)

    def _add_computation(self, op: ManualComputationOp, name: str) -> None:
        self._rewriter.set_attribute(op, ORIGIN_NAME, string(name))
        for index, (argument, sharding) in enumerate(zip(op.block.arguments, op.in_shardings, strict=True)):
            self._add(_edge(argument).output, sharding, f"{name}_input: {index}")
            source = op.operand_at(index)
            self._add(source, sharding_of(source), f"{name}_input: {index}")
        for index, (result, sharding) in enumerate(zip(op.results, op.out_shardings, strict=True)):
            self._add(_edge(result).output, sharding, f"{name}_output: {index}")

    def _add_function(self, function: FuncOp) -> None:
        for index, argument in enumerate(function.entry.arguments):
            self._add(argument, sharding_of(argument), f"input: {index}")
        # The entry block may end with another terminator that has more operands than there are results.
        outputs = zip(_terminator(function).operands, function.result_attributes, strict=False)
        for index, (value, attributes) in enumerate(outputs):
            sharding = attributes.get(SHARDING)
            if isinstance(sharding, TensorSharding):
                self._add(value, sharding, f"output: {index}")

    def save(self) -> None:
        """Writes the origins to attributes."""
        for value, origins in self._origins.items():
            if value.block is not None:
                self._save_value(value, _attribute(origins))
        for constraint in self._module.nested(ShardingConstraintOp):
            if ORIGIN_NAME in constraint.attributes:
                self._mark_self(constraint, _origin_name(constraint))
        for function in _functions(self._module):
            self._mark_self_in_signature(function)
        for computation in self._module.nested(ManualComputationOp):
            name = _origin_name(computation)
            for argument in computation.block.arguments:
                self._mark_self(_edge(argument), f"{name}_input: {argument.index}")
            for result in computation.results:
                self._mark_self(_edge(result), f"{name}_output: {result.index}")

    def _save_value(self, value: Value, origins: DictAttr) -> None:
        assert isinstance(value, OpResult | BlockArgument)
        op, rewriter = owning_op(value), self._rewriter
        function = op if isinstance(op, FuncOp) else op.parent_of_type(FuncOp)
        assert isinstance(function, FuncOp)
        terminator = _terminator(function)
        output = next((use.index for use in value.uses if use.owner is terminator), None)
        # Another terminator than `func.return` may have more operands than there are results.
        if output is not None and output < len(function.result_attributes):
            rewriter.set_result_attribute(function, output, ORIGINS, origins)
        if op is function:
            rewriter.set_argument_attribute(op, value.index, ORIGINS, origins)
        elif isinstance(op, ShardingConstraintOp | DataFlowEdgeOp):
            rewriter.set_attribute(op, ORIGINS, origins)
        else:
            attribute = op.attributes.get(ORIGINS)
            per_result: list[Attribute] = (
                list(attribute.elements)
                if isinstance(attribute, ArrayAttr)
                else [dictionary({}) for _ in op.results]
            )
            per_result[value.index] = origins
            rewriter.set_attribute(op, ORIGINS, array(per_result))

    def _mark_self(self, op: Op, name: str) -> None:
        origins = op.attributes.get(ORIGINS)
        if isinstance(origins, DictAttr):
            self._rewriter.set_attribute(op, ORIGINS, _with_self(origins, name))

    def _mark_self_in_signature(self, function: FuncOp) -> None:
        for prefix, attributes, set_attribute in (
            ("input", function.argument_attributes, self._rewriter.set_argument_attribute),
            ("output", function.result_attributes, self._rewriter.set_result_attribute),
        ):
            for index, entries in enumerate(attributes):
                origins = entries.get(ORIGINS)
                if isinstance(origins, DictAttr):
                    set_attribute(function, index, ORIGINS, _with_self(origins, f"{prefix}: {index}"))


def _functions(module: ModuleOp) -> Iterator[FuncOp]:
    return (op for op in module.block.ops if isinstance(op, FuncOp) and not op.is_declaration)


def _terminator(function: FuncOp) -> Op:
    terminator = function.entry.last
    assert terminator is not None
    return terminator


def _edge(target: OpResult | BlockArgument) -> DataFlowEdgeOp:
    edge = edge_of(target)
    if edge is None:
        raise owning_op(target).error(
            "sharding origins require data-flow edges: run sdy-add-data-flow-edges first"
        )
    return edge


def _shardable(value: Value) -> Value:
    shardable = shardable_value(value)
    assert shardable is not None
    return shardable


def _attribute(origins: dict[AxisRef, str]) -> DictAttr:
    return dictionary(
        {axis_ref_text(axis).replace('"', ""): string(origin) for axis, origin in origins.items()}
    )


def _with_self(origins: DictAttr, name: str) -> DictAttr:
    return dictionary({axis: SELF if origin is string(name) else origin for axis, origin in origins})


def _origin_name(op: Op) -> str:
    name = op.attributes[ORIGIN_NAME]
    assert isinstance(name, StringAttr)
    return name.value


# Debug info of applied sharding constraints: sharding origins and propagation edges.
#
# A propagation edge records which axis propagated from which operand or result to which others, and in which
# step. Operations store them in `sdy.propagation_edges`.


class ConstraintDebugInfo:
    """The sharding origins and propagation edges of constraints, each only if it is enabled.

    Must be created before any sharding is changed.
    """

    def __init__(
        self, module: ModuleOp, record_origins: bool, record_edges: bool, rewriter: Rewriter
    ) -> None:
        self._rewriter = rewriter
        self._origins = ShardingOrigins(module, rewriter) if record_origins else None
        self._edges: dict[Op, PropagationEdges] | None = {} if record_edges else None
        self._step = last_step(module) + 1 if record_origins or record_edges else 0

    def record(self, op: ShardingConstraintOp) -> None:
        """Records that a constraint has been applied to its input, which had no sharding."""
        sharding = op.sharding
        axes = _axes_from_result(op)
        if axes and self._edges is not None:
            result, operand = EdgeValueRef(RESULT, 0), EdgeValueRef(OPERAND, 0)
            ordered = sorted(axes, key=lambda axis: axis.sort_key)
            from_result_to_operand = tuple([AxisPropagation(axis, result, (operand,)) for axis in ordered])
            self._edges[op] = PropagationEdges((PropagationStep(self._step, from_result_to_operand),))
        if sharding.dims or sharding.replicated_axes or sharding.unreduced_axes:
            self._step += 1
        if self._origins is not None:
            self._origins.copy(op.output, op.input, axes)

    def save(self) -> None:
        """Writes everything to attributes."""
        if self._origins is not None:
            self._origins.save()
        for op, edges in (self._edges or {}).items():
            self._rewriter.set_attribute(op, PROPAGATION_EDGES, edges)


def _axes_from_result(op: ShardingConstraintOp) -> list[AxisRef]:
    """The axes of the input that, by the sharding rule, propagated from the result.

    All axes, unless the constraint has a user-defined rule that does not map each dimension of the operand to
    the same dimension of the result.
    """
    dims, rule = op.sharding.dims, op.attributes.get(SHARDING_RULE)
    # A maximal sharding has no dimensions.
    if not isinstance(rule, OpShardingRule) or not dims:
        return [axis for dim in dims for axis in dim.axes]
    (operand,), (result,) = rule.operands, rule.results
    in_result = dict(zip(result.dims, dims, strict=True))
    axes: list[AxisRef] = []
    for mapping, dim in zip(operand.dims, dims, strict=True):
        source = in_result.get(mapping)
        if source is not None and source.axes[: len(dim.axes)] == dim.axes:
            axes += dim.axes
    return axes


def last_step(module: ModuleOp) -> int:
    """The index of the last step with propagation edges in a module; -1 if there are none."""
    attributes = (op.attributes.get(PROPAGATION_EDGES) for op in module.walk())
    steps = [
        step.index for edges in attributes if isinstance(edges, PropagationEdges) for step in edges.steps
    ]
    return max(steps, default=-1)
