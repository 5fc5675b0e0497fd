"""Values that belong to others: as written, of gradients, and constraints that JAX derives from a weight.

Of derived constraints: a weight, its gradient and its moments, in each layer of a loop, are tied by
operations that keep its dimensions. JAX gives the results of these operations the axes of the weight. A
product does not keep them: if JAX derives its sharding, too, activations follow from a change of the weight,
and no edit says how.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from sdyopt.analysis.changes.edits import IN_BACKWARD_RULE, AnnotationEdit, annotation_of, is_input, place_of
from sdyopt.analysis.changes.roles import statement_of
from sdyopt.analysis.figures.source_locations import (
    GRADIENTS,
    Phase,
    UserLines,
    is_derived,
    is_out_sharding,
    source_location,
)
from sdyopt.analysis.sharding_record.record import TrackedValues
from sdyopt.base.dataclasses import NamedTuple, dataclass
from sdyopt.base.diagnostics.diagnostic import handling
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.value_shardings import owning_op
from sdyopt.mlir.dialects.stablehlo.control_flow import WhileOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp, ReshapeOp, TransposeOp
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicSliceOp, DynamicUpdateSliceOp, SliceOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.shardy.record import Subject
from sdyopt.shardy.sharding.op_sharding_rule_builder import is_elementwise
from sdyopt.shardy.sharding.op_sharding_rule_registry import sharding_rule_of


@dataclass(frozen=True)
class Originals:
    """The program as it was written: `module`, and the values that those after the passes come from."""

    module: Op
    values: TrackedValues
    values_before: Mapping[Value, Value]

    def value(self, value: Value) -> OpResult | BlockArgument | None:
        """The value of the written program that a value was; None if a pass created it."""
        for predecessor in (value, *self.values.predecessors(value)):
            for original in self.values.originals(predecessor):
                for earlier in (original, *self.values.predecessors(original)):
                    result = self.values_before.get(earlier)
                    if isinstance(result, OpResult | BlockArgument):
                        return result
        return None

    def place(self, value: Value) -> Subject | None:
        """The place where the sharding of a value is written: at the constraint on it, or at itself."""
        result = self.value(value)
        return None if result is None else place_of(result)


class Gradients:
    """Relates the values of a program to their gradients.

    JAX gives an operation of the backward pass the line of the one that it differentiates. What it takes in
    the type of that result is the gradient of the result, and what it computes in the type of an operand is
    that of the operand.
    """

    def __init__(self, module: Op) -> None:
        self._module = module
        self._lines = UserLines.of_module(module)

    def gradient(self, value: OpResult) -> OpResult | None:
        """The gradient of a value. A with_sharding_constraint of JAX on the value constrains it, too."""
        if value.op.regions or _is_backward(value.op):
            return None
        for op in self._ops.get((_line(value.op), True), ()):
            for operand in op.operands:
                is_alike = isinstance(operand, OpResult) and operand.type is value.type
                if is_alike and isinstance(operand, OpResult) and _is_backward(operand.op):
                    return operand
        return None

    def constrained(self, edits: Iterable[AnnotationEdit]) -> tuple[AnnotationEdit, ...]:
        """Edits as JAX makes them: a statement that constrains a value constrains its gradient, too.

        An edit that cannot be written is left out, such as one of a value within a backward pass.
        """
        edits_by_value = {edit.subject: edit for edit in map(_handed_on, edits)}
        together: set[Subject] = set()
        # A statement constrains the same values, whichever of them is edited.
        statements: set[object] = set()
        for subject, edit in list(edits_by_value.items()):
            statement = None if edit.replaced is None else statement_of(edit.replaced, self._lines)
            if statement is not None and statement in statements:
                continue
            statements.add(statement)
            if isinstance(subject, OpResult):
                for other in self._constrained_with(subject, edit):
                    edits_by_value.setdefault(other.subject, other)
                    together.add(other.subject)
        # A value that is recomputed in the backward pass has the line of the one that is constrained.
        lines = {
            _line(subject.op)
            for subject in edits_by_value
            if isinstance(subject, OpResult) and source_location(subject.op.location).phase not in GRADIENTS
        }
        written = []
        for subject, edit in edits_by_value.items():
            is_other = subject in together or (isinstance(subject, OpResult) and _line(subject.op) in lines)
            how = "" if is_other else self._how(edit)
            if edit.is_new_constraint and isinstance(subject, OpResult) and _is_of_loop(subject):
                how = None
            if how is not None:
                written.append(edit._replace(how=how))
        # With explicit axes, JAX derives the shardings of most results.
        if all(edit.replaced is not None and is_derived(edit.replaced) for edit in written):
            return ()
        return tuple(written)

    def _constrained_with(self, subject: OpResult, edit: AnnotationEdit) -> Iterator[AnnotationEdit]:
        """The edits of other values that the statement of a change constrains."""
        if edit.is_new_constraint:
            if (gradient := self.gradient(subject)) is not None:
                yield edit._replace(subject=gradient)
        elif edit.replaced is not None:
            for output in self._statements.get(statement_of(edit.replaced, self._lines), (subject,)):
                yield edit._replace(subject=output)
                if not edit.is_removal and is_out_sharding(edit.replaced):
                    yield from self._of_gradient(output, edit)

    def _of_gradient(self, output: OpResult, edit: AnnotationEdit) -> Iterator[AnnotationEdit]:
        """The edits of the gradient of a value with an `out_sharding`: JAX gives it the type of the value.

        It is computed where the value is used. If that takes other values of the type, each of which has a
        gradient, it is the one that is computed with the others.
        """
        for user in dict.fromkeys(output.users):
            others = {operand for operand in user.operands if operand.type is output.type} - {output}
            for op in self._ops.get((_line(user), True), ()):
                is_constraint = isinstance(op, ShardingConstraintOp) and op.output.type is output.type
                if not is_constraint or annotation_of(op.results[0]) != annotation_of(output):
                    continue
                used = _factors(op)
                if not others or (output not in used and not others.isdisjoint(used)):
                    yield from _transposed(edit._replace(subject=op.results[0]))

    def _how(self, edit: AnnotationEdit) -> str | None:
        """How the constraint of a gradient is written: "" for other values, None if it cannot be written."""
        subject = edit.subject
        if not edit.is_new_constraint or not isinstance(subject, OpResult):
            return ""
        phase = source_location(subject.op.location).phase
        if phase not in GRADIENTS:
            return ""
        line = _line(subject.op)
        # What the gradient of a statement is computed from is used by the same statement.
        is_within = any(_line(user) == line and _is_backward(user) for user in subject.users)
        if phase is Phase.REMATERIALIZED or is_within or not self._operands(subject):
            return None
        value = self.value(subject)
        is_final = not any(source_location(user.location).phase in GRADIENTS for user in subject.users)
        if is_final and value is not None and is_input(value):
            return " on what jax.grad returns"
        return IN_BACKWARD_RULE

    def _operands(self, gradient: OpResult) -> list[Value]:
        """The values of the type of a gradient that its line uses, and that other lines compute."""
        line = _line(gradient.op)
        return [
            operand
            for op in self._ops.get((line, False), ())
            for operand in op.operands
            if operand.type is gradient.type
            and (not isinstance(operand, OpResult) or _line(operand.op) != line)
        ]

    @cached_property
    def _statements(self) -> dict[object, list[OpResult]]:
        """The results of the constraints of each statement."""
        statements: dict[object, list[OpResult]] = {}
        for op in self._module.walk():
            key = statement_of(op, self._lines) if isinstance(op, ShardingConstraintOp) else None
            if key is not None:
                statements.setdefault(key, []).append(op.results[0])
        return statements

    def value(self, gradient: Value) -> OpResult | BlockArgument | None:
        """The value whose gradient this is; None if it is none, or that of one of several."""
        if not isinstance(gradient, OpResult) or not _is_backward(gradient.op):
            return None
        arguments = {
            operand: None
            for op in self._ops.get((_line(gradient.op), False), ())
            for operand in op.operands
            if operand.type is gradient.type and isinstance(operand, OpResult | BlockArgument)
        }
        return next(iter(arguments)) if len(arguments) == 1 else None

    @cached_property
    def _ops(self) -> dict[tuple[object, bool], list[Op]]:
        """The operations of a line and column, by whether they are of a backward pass."""
        ops: dict[tuple[object, bool], list[Op]] = {}
        for op in self._with_lines():
            ops.setdefault((_line(op), _is_backward(op)), []).append(op)
        return ops

    def _with_lines(self) -> Iterator[Op]:
        for op in self._module.walk():
            if (not op.regions or isinstance(op, ScatterOp)) and source_location(op.location).line:
                yield op


def _handed_on(edit: AnnotationEdit) -> AnnotationEdit:
    """The change of a gradient that its statement transposes: of what it gives to other statements."""
    while edit.is_new_constraint and isinstance(value := edit.subject, OpResult) and value.has_one_use:
        (user,) = value.users
        if not isinstance(user, TransposeOp) or not _is_backward(value.op) or _line(user) != _line(value.op):
            break
        dims = [edit.sharding.dims[number] for number in user.permutation]
        result = user.results[0]
        edit = edit._replace(subject=result, sharding=edit.sharding.with_dims(dims))
    return edit


def _factors(op: Op) -> Sequence[Value]:
    """What a value is computed from, whose constraint or transposition this is."""
    while isinstance(op, ShardingConstraintOp | TransposeOp) and isinstance(op.operands[0], OpResult):
        op = op.operands[0].op
    return op.operands


def _transposed(edit: AnnotationEdit) -> Iterator[AnnotationEdit]:
    """An edit of a derived constraint, and those of what it transposes, such as a product."""
    yield edit
    while isinstance(op := edit.replaced, ShardingConstraintOp) and isinstance(op.input, OpResult):
        transpose = op.input.op
        if not isinstance(transpose, TransposeOp) or not isinstance(transpose.operand, OpResult):
            break
        if not isinstance(transpose.operand.op, ShardingConstraintOp) or not is_derived(transpose.operand.op):
            break
        dims = dict(zip(transpose.permutation, edit.sharding.dims, strict=True))
        sharding = edit.sharding.with_dims(tuple(dims[number] for number in range(len(dims))))
        edit = edit._replace(subject=transpose.operand, sharding=sharding)
        yield edit


def _is_of_loop(value: OpResult) -> bool:
    """Whether a loop's statement makes what the loop begins with, such as zeros that a scan fills."""
    line = _line(value.op)
    return any(isinstance(user, WhileOp) and _line(user) == line for user in value.users) and line[1] != 0


def _line(op: Op) -> tuple[object, ...]:
    return source_location(op.location)[:3]


def _is_backward(op: Op) -> bool:
    return source_location(op.location).phase is Phase.BACKWARD


_KEEPING = (BroadcastInDimOp, ReshapeOp, TransposeOp, DynamicSliceOp, DynamicUpdateSliceOp, SliceOp)
# The dimension of the weight that each dimension of a value is; None if it is none, such as that of layers.
_Dims = tuple[int | None, ...]


class _Tied(NamedTuple):
    """A derived constraint with the dimensions of the weight."""

    output: OpResult
    dims: _Dims


class DerivedConstraints:
    """The derived constraints of a program, by the argument that they follow."""

    def __init__(self, module: Op) -> None:
        self._is_explicit = any(
            isinstance(op, ShardingConstraintOp) and is_derived(op) for op in module.walk()
        )
        self._of: dict[BlockArgument, tuple[list[_Tied], bool]] = {}

    def following(self, edits: Sequence[AnnotationEdit]) -> list[AnnotationEdit] | None:
        """What JAX changes with edits of arguments; None if it is not known."""
        if not self._is_explicit:
            return []
        followers: dict[OpResult, AnnotationEdit] = {}
        for edit in edits:
            argument = edit.subject
            if not isinstance(argument, BlockArgument) or not is_input(argument) or edit.is_removal:
                continue
            tied, is_known = self._tied(argument)
            if not is_known:
                return None
            for output, dims in tied:
                current = annotation_of(output)
                if current is None or output in followers:
                    continue
                pairs = zip(current.dims, dims, strict=True)
                new = [own if dim is None else edit.sharding.dims[dim] for own, dim in pairs]
                followers[output] = edit._replace(subject=output, sharding=current.with_dims(tuple(new)))
        return list(followers.values())

    def whole(self, arguments: Iterable[Subject]) -> set[OpResult]:
        """The derived constraints of all dimensions of arguments, such as of what updates a parameter.

        They change with these arguments only.
        """
        return {
            output
            for argument in (arguments if self._is_explicit else ())
            if isinstance(argument, BlockArgument) and is_input(argument)
            for output, dims in self._tied(argument)[0]
            if None not in dims and is_derived(output.op)
        }

    def _tied(self, argument: BlockArgument) -> tuple[list[_Tied], bool]:
        """The constraints of what has dimensions of an argument, and whether no others follow from it."""
        if argument not in self._of:
            self._of[argument] = self._follow(argument)
        return self._of[argument]

    def _follow(self, argument: BlockArgument) -> tuple[list[_Tied], bool]:
        tied: list[_Tied] = []
        is_known = True
        rank = argument.type.rank if isinstance(argument.type, RankedTensor) else 0
        todo: list[tuple[OpResult | BlockArgument, _Dims]] = [(argument, tuple(range(rank)))]
        seen: set[Value] = {argument}
        while todo:
            value, dims = todo.pop()
            users = dict.fromkeys(value.users)
            is_known = is_known and not any(
                _is_other(op, value, dims) and _is_derived_from(op) for op in users
            )
            if isinstance(value, OpResult) and isinstance(value.op, ShardingConstraintOp):
                tied.append(_Tied(value, dims))
            for other, of_other in _beside(value, dims):
                if other not in seen and isinstance(other, OpResult | BlockArgument):
                    seen.add(other)
                    todo.append((other, of_other))
        return tied, is_known


def _beside(value: OpResult | BlockArgument, dims: _Dims) -> Iterator[tuple[Value, _Dims]]:
    """The values that operations tie to a value, with their dimensions."""
    for op in (*dict.fromkeys(value.users), *([value.op] if isinstance(value, OpResult) else [])):
        if isinstance(op, ShardingConstraintOp):
            if is_derived(op):
                yield op.output if op.input is value else op.input, dims
        elif _keeps(op):
            for other in (*op.operands, *op.results):
                of_other = None if other is value else _mapped(op, value, dims, other)
                if of_other is not None:
                    yield other, of_other
    yield from ((other, dims) for other in _flows(value))


def _flows(value: OpResult | BlockArgument) -> Iterator[Value]:
    """The values that loops and branches tie to a value."""
    ops = [owning_op(value), *dict.fromkeys(value.users)]
    ops += [parent for op in ops if op.is_terminator and (parent := op.parent_op) is not None]
    for op in ops:
        if op.data_flow is None or isinstance(op, FuncOp):
            continue
        for owner in op.data_flow.owners(op):
            sources = (source.value for source in op.data_flow.sources(op, owner))
            tied = [owner, *sources, *op.data_flow.other_targets(op, owner)]
            if any(other is value for other in tied):
                yield from (other for other in tied if other is not value)


def _mapped(op: Op, value: Value, dims: _Dims, other: Value) -> _Dims | None:
    """The dimensions of another value of an operation; None if it does not keep those of the weight."""
    if not isinstance(other.type, RankedTensor) or not isinstance(value.type, RankedTensor):
        return None
    with handling(lambda _: None):
        rule = sharding_rule_of(op)
    if rule is None:
        return None
    values = [*op.operands, *op.results]
    numbers = [next(i for i, item in enumerate(values) if item is one) for one in (value, other)]
    source, target = (rule.tensors[number].dims for number in numbers)
    sizes = rule.factor_sizes
    dim_of = {
        factor: dim
        for mapping, dim in zip(source, dims, strict=True)
        for factor in mapping.factors
        if sizes[factor] > 1 and len(mapping.factors) == 1
    }
    mapped = []
    for mapping, size in zip(target, other.type.shape, strict=True):
        factors = [factor for factor in mapping.factors if sizes[factor] > 1]
        known = len(factors) == 1 and factors[0] in dim_of
        if not known and size > 1 and not isinstance(op, DynamicSliceOp | DynamicUpdateSliceOp):
            return None
        mapped.append(dim_of[factors[0]] if known else None)
    kept = {dim for dim in mapped if dim is not None}
    return tuple(mapped) if kept else None


def _keeps(op: Op) -> bool:
    return isinstance(op, _KEEPING) or is_elementwise(op.signature)


def _is_other(op: Op, value: Value, dims: _Dims) -> bool:
    """Whether what an operation computes from a value has other dimensions, such as a product."""
    if isinstance(op, ShardingConstraintOp) or op.is_terminator or op.data_flow is not None:
        return False
    return not _keeps(op) or any(_mapped(op, value, dims, result) is None for result in op.results)


def _is_derived_from(op: Op) -> bool:
    """Whether JAX derives the sharding of a result from those of operands; not for a gradient."""
    if source_location(op.location).phase in GRADIENTS:
        return False
    users = [user for result in op.results for user in result.users]
    return any(isinstance(user, ShardingConstraintOp) and is_derived(user) for user in users)
