"""Traces of shardings: where every axis comes from, and by which way.

Origins are kept with values, in `sdy.sharding_origins`: the names of the constraints, inputs, outputs and
manual computations that mention an axis first; `self` where it is the value's own. Edges are kept with
operations, in `sdy.propagation_edges`: which axis went from which operand or result to which, in which
step.
"""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.func import FuncOp
from sdyopt.dialects.sdy.attribute_names import (
    ORIGIN_NAME,
    ORIGINS,
    PROPAGATION_EDGES,
    SHARDING,
    SHARDING_RULE,
)
from sdyopt.dialects.sdy.axes import AxisRef, axis_ref_text
from sdyopt.dialects.sdy.computation_ops import ManualComputationOp
from sdyopt.dialects.sdy.ops import DataFlowEdgeOp, ShardingConstraintOp
from sdyopt.dialects.sdy.propagation_debug_attrs import (
    OPERAND,
    RESULT,
    AxisPropagation,
    EdgeValueRef,
    PropagationEdges,
    PropagationStep,
)
from sdyopt.dialects.sdy.rule import OpShardingRule
from sdyopt.dialects.sdy.sharding import TensorSharding
from sdyopt.dialects.sdy.value_shardings import edge_of, owning_op, shardable_value, sharding_of
from sdyopt.ir.attribute import ArrayAttr, Attribute, DictAttr, StringAttr, array, dictionary, string
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.value import BlockArgument, OpResult, Value

SELF = string("self")
# How the reference calls the origin of an axis that was there before, at a value that is no origin itself.
UNKNOWN_ORIGIN = ": 0"


class ShardingOrigins:
    """What is asked for of origins and edges, from before the first change of a sharding on."""

    def __init__(self, module: ModuleOp, has_origins: bool, has_edges: bool, rewriter: Rewriter) -> None:
        self._rewriter = rewriter
        self._origins = Origins(module, rewriter) if has_origins else None
        self._edges: dict[Op, PropagationEdges] | None = {} if has_edges else None
        self._step = last_step(module) + 1 if has_origins or has_edges else 0

    def applied(self, op: ShardingConstraintOp) -> None:
        """Notes that the input, which had no sharding before, got that of the constraint."""
        sharding = op.sharding
        axes = _axes_from_result(op)
        if axes and self._edges is not None:
            self._edges[op] = PropagationEdges((PropagationStep(self._step, _from_result_to_operand(axes)),))
        if sharding.dims or sharding.replicated_axes or sharding.unreduced_axes:
            self._step += 1
        if self._origins is not None:
            self._origins.take_over(op.output, op.input, axes)

    def save(self) -> None:
        """Writes everything into attributes."""
        if self._origins is not None:
            self._origins.save()
        for op, edges in (self._edges or {}).items():
            self._rewriter.set_attribute(op, PROPAGATION_EDGES, edges)


def _axes_from_result(op: ShardingConstraintOp) -> list[AxisRef]:
    """The axes of the input that, by the sharding rule, came from the result.

    Those are all of them, unless somebody wrote a rule by which dimensions of the input are not the same
    dimensions of the result.
    """
    dims, rule = op.sharding.dims, op.attributes.get(SHARDING_RULE)
    if not isinstance(rule, OpShardingRule):
        return [axis for dim in dims for axis in dim.axes]
    (operand,), (result,) = rule.operands, rule.results
    in_result = dict(zip(result.dims, dims, strict=True))
    found: list[AxisRef] = []
    for mapping, dim in zip(operand.dims, dims, strict=True):
        source = in_result.get(mapping)
        if source is not None and source.axes[: len(dim.axes)] == dim.axes:
            found += dim.axes
    return found


def _from_result_to_operand(axes: list[AxisRef]) -> tuple[AxisPropagation, ...]:
    result, operand = EdgeValueRef(RESULT, 0), EdgeValueRef(OPERAND, 0)
    by_name = sorted(axes, key=lambda axis: (axis.name, axis.pre_size, axis.reach))
    return tuple([AxisPropagation(axis, result, (operand,)) for axis in by_name])


def last_step(module: ModuleOp) -> int:
    """The last step of which there are edges; -1 if there are none."""
    found = (op.attributes.get(PROPAGATION_EDGES) for op in module.walk())
    steps = [step.index for edges in found if isinstance(edges, PropagationEdges) for step in edges.steps]
    return max(steps, default=-1)


class Origins:
    """For each value that keeps a sharding, the name of the origin of each of its axes."""

    def __init__(self, module: ModuleOp, rewriter: Rewriter) -> None:
        self._module = module
        self._rewriter = rewriter
        self._names: dict[Value, dict[AxisRef, str]] = {}
        constraints = [op for op in module.walk_post_order() if isinstance(op, ShardingConstraintOp)]
        for number, constraint in enumerate(constraints):
            self._start_constraint(constraint, f"constraint_{number}")
        for number, computation in enumerate(_manual_computations(module)):
            self._start_computation(computation, f"mc_{number}")
        for function in _functions(module):
            self._start_function(function)

    def take_over(self, source: Value, target: Value, axes: list[AxisRef]) -> None:
        """Notes that axes went from one value to another."""
        for axis in axes:
            origin = self._names[_holder(source)][axis]
            self._names.setdefault(_holder(target), {}).setdefault(axis, origin)

    def inherit(self, source: Value, target: Value, axis: AxisRef) -> None:
        """Notes that an axis, or what became of it where dimensions are split or joined, went to a value."""
        known = self._names.get(_holder(source), {})
        related = (name for other, name in known.items() if other.contains(axis) or axis.contains(other))
        name = known.get(axis) or next(related, UNKNOWN_ORIGIN)
        self._names.setdefault(_holder(target), {}).setdefault(axis, name)

    def _start(self, value: Value, sharding: TensorSharding | None, name: str) -> None:
        if sharding is None:
            return
        for dim in sharding.dims:
            for axis in dim.axes:
                self._names.setdefault(_holder(value), {}).setdefault(axis, name)

    def _start_constraint(self, op: ShardingConstraintOp, name: str) -> None:
        self._rewriter.set_attribute(op, ORIGIN_NAME, string(name))
        self._start(op.output, op.sharding, name)
        self._start(op.input, sharding_of(op.input), name)

    def _start_computation(self, op: ManualComputationOp, name: str) -> None:
        self._rewriter.set_attribute(op, ORIGIN_NAME, string(name))
        for index, (argument, sharding) in enumerate(zip(op.block.arguments, op.in_shardings, strict=True)):
            self._start(_edge(argument).output, sharding, f"{name}_input: {index}")
            source = op.operand_at(index)
            self._start(source, sharding_of(source), f"{name}_input: {index}")
        for index, (result, sharding) in enumerate(zip(op.results, op.out_shardings, strict=True)):
            self._start(_edge(result).output, sharding, f"{name}_output: {index}")

    def _start_function(self, function: FuncOp) -> None:
        for index, argument in enumerate(function.entry.arguments):
            self._start(argument, sharding_of(argument), f"input: {index}")
        # A first block that ends with something else than a return may give more than there are results.
        returned = zip(_returned(function).operands, function.result_attributes, strict=False)
        for index, (value, held) in enumerate(returned):
            sharding = held.get(SHARDING)
            if isinstance(sharding, TensorSharding):
                self._start(value, sharding, f"output: {index}")

    def save(self) -> None:
        for value, names in self._names.items():
            if value.block is not None:
                self._save_value(value, _words(names))
        for op in self._module.walk_post_order():
            if isinstance(op, ShardingConstraintOp) and ORIGIN_NAME in op.attributes:
                self._say_self(op, _name(op))
        for function in _functions(self._module):
            self._say_self_in_signature(function)
        for computation in _manual_computations(self._module):
            name = _name(computation)
            for argument in computation.block.arguments:
                self._say_self(_edge(argument), f"{name}_input: {argument.index}")
            for result in computation.results:
                self._say_self(_edge(result), f"{name}_output: {result.index}")

    def _save_value(self, value: Value, words: DictAttr) -> None:
        assert isinstance(value, OpResult | BlockArgument)
        op, edit = owning_op(value), self._rewriter
        function = op if isinstance(op, FuncOp) else op.parent_of(FuncOp)
        assert isinstance(function, FuncOp)
        end = _returned(function)
        returned = next((use.index for use in value.uses if use.owner is end), None)
        if returned is not None:
            edit.set_result_attribute(function, returned, ORIGINS, words)
        if op is function:
            edit.set_argument_attribute(op, value.index, ORIGINS, words)
        elif isinstance(op, ShardingConstraintOp | DataFlowEdgeOp):
            edit.set_attribute(op, ORIGINS, words)
        else:
            held = op.attributes.get(ORIGINS)
            all_words: list[Attribute] = (
                list(held.elements) if isinstance(held, ArrayAttr) else [dictionary({}) for _ in op.results]
            )
            all_words[value.index] = words
            edit.set_attribute(op, ORIGINS, array(all_words))

    def _say_self(self, op: Op, name: str) -> None:
        words = op.attributes.get(ORIGINS)
        if isinstance(words, DictAttr):
            self._rewriter.set_attribute(op, ORIGINS, _with_self(words, name))

    def _say_self_in_signature(self, function: FuncOp) -> None:
        for index, held in enumerate(function.argument_attributes):
            words = held.get(ORIGINS)
            if isinstance(words, DictAttr):
                new = _with_self(words, f"input: {index}")
                self._rewriter.set_argument_attribute(function, index, ORIGINS, new)
        for index, held in enumerate(function.result_attributes):
            words = held.get(ORIGINS)
            if isinstance(words, DictAttr):
                new = _with_self(words, f"output: {index}")
                self._rewriter.set_result_attribute(function, index, ORIGINS, new)


def _manual_computations(module: ModuleOp) -> Iterator[ManualComputationOp]:
    return (op for op in module.walk_post_order() if isinstance(op, ManualComputationOp))


def _functions(module: ModuleOp) -> Iterator[FuncOp]:
    return (op for op in module.block.ops if isinstance(op, FuncOp) and not op.is_declaration)


def _returned(function: FuncOp) -> Op:
    end = function.entry.last
    assert end is not None
    return end


def _edge(target: OpResult | BlockArgument) -> DataFlowEdgeOp:
    edge = edge_of(target)
    if edge is None:
        raise owning_op(target).error("origins of shardings can only be told after sdy-add-data-flow-edges")
    return edge


def _holder(value: Value) -> Value:
    held = shardable_value(value)
    assert held is not None
    return held


def _words(names: dict[AxisRef, str]) -> DictAttr:
    return dictionary({axis_ref_text(axis).replace('"', ""): string(name) for axis, name in names.items()})


def _with_self(words: DictAttr, name: str) -> DictAttr:
    return dictionary({axis: SELF if origin is string(name) else origin for axis, origin in words})


def _name(op: Op) -> str:
    name = op.attributes[ORIGIN_NAME]
    assert isinstance(name, StringAttr)
    return name.value
