"""Values that belong to others: as written, and of gradients."""

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
from sdyopt.base.dataclasses import dataclass
from sdyopt.base.diagnostics.location import FileRange, Location
from sdyopt.base.diagnostics.whole_files import source_files
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.stablehlo.control_flow import WhileOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.dialects.stablehlo.shapes import TransposeOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.shardy.record import Subject


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
        # Of constraints of the program and results with an `out_sharding`, which many edits ask for.
        self._statement_keys: dict[ShardingConstraintOp, object] = {}
        self._stated_gradients: dict[OpResult, Sequence[OpResult]] = {}

    def gradient(self, value: OpResult) -> OpResult | None:
        """The gradient of a value. A with_sharding_constraint of JAX on the value constrains it, too."""
        if value.op.regions or is_backward(value.op):
            return None
        for op in self._ops.get((line_of(value.op), True), ()):
            for operand in op.operands:
                is_alike = isinstance(operand, OpResult) and operand.type is value.type
                if is_alike and isinstance(operand, OpResult) and is_backward(operand.op):
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
            statement = None if edit.replaced is None else self._statement_of(edit.replaced)
            if statement is not None and statement in statements:
                continue
            statements.add(statement)
            if isinstance(subject, OpResult):
                for other in self._constrained_with(subject, edit):
                    edits_by_value.setdefault(other.subject, other)
                    together.add(other.subject)
        # A value that is recomputed in the backward pass has the line of the one that is constrained.
        lines = {
            line_of(subject.op)
            for subject in edits_by_value
            if isinstance(subject, OpResult) and source_location(subject.op.location).phase not in GRADIENTS
        }
        written = []
        for subject, edit in edits_by_value.items():
            is_other = subject in together or (isinstance(subject, OpResult) and line_of(subject.op) in lines)
            how = "" if is_other else self._how(edit)
            if edit.is_new_constraint and isinstance(subject, OpResult) and is_of_loop(subject):
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
            for output in self._statements.get(self._statement_of(edit.replaced), (subject,)):
                yield edit._replace(subject=output)
                if not edit.is_removal and is_out_sharding(edit.replaced):
                    yield from self._of_gradient(output, edit)

    def _of_gradient(self, output: OpResult, edit: AnnotationEdit) -> Iterator[AnnotationEdit]:
        """The edits of the gradient of a value with an `out_sharding`: JAX gives it the type of the value."""
        if output not in self._stated_gradients:
            self._stated_gradients[output] = list(self._gradients_like(output))
        for gradient in self._stated_gradients[output]:
            yield from transposed(edit._replace(subject=gradient))

    def _gradients_like(self, output: OpResult) -> Iterator[OpResult]:
        """The constraints of the gradient of a value that state its type.

        It is computed where the value is used. If that takes other values of the type, each of which has a
        gradient, it is the one that is computed with the others.
        """
        for user in dict.fromkeys(output.users):
            others = {operand for operand in user.operands if operand.type is output.type} - {output}
            for op in self._ops.get((line_of(user), True), ()):
                if not isinstance(op, ShardingConstraintOp) or op.output.type is not output.type:
                    continue
                (result,) = op.results
                if annotation_of(result) != annotation_of(output):
                    continue
                used = _factors(op)
                if not others or (output not in used and not others.isdisjoint(used)):
                    yield result

    def _how(self, edit: AnnotationEdit) -> str | None:
        """How the constraint of a gradient is written: "" for other values, None if it cannot be written."""
        subject = edit.subject
        if not edit.is_new_constraint or not isinstance(subject, OpResult):
            return ""
        phase = source_location(subject.op.location).phase
        if phase not in GRADIENTS:
            return ""
        line = line_of(subject.op)
        # What the gradient of a statement is computed from is used by the same statement.
        is_within = any(line_of(user) == line and is_backward(user) for user in subject.users)
        if phase is Phase.REMATERIALIZED or is_within or not self._operands(subject):
            return None
        value = self.value(subject)
        is_final = not any(source_location(user.location).phase in GRADIENTS for user in subject.users)
        if is_final and value is not None and is_input(value):
            return " on what jax.grad returns"
        return IN_BACKWARD_RULE

    def _operands(self, gradient: OpResult) -> list[Value]:
        """The values of the type of a gradient that its line uses, and that other lines compute."""
        line = line_of(gradient.op)
        return [
            operand
            for op in self._ops.get((line, False), ())
            for operand in op.operands
            if operand.type is gradient.type
            and (not isinstance(operand, OpResult) or line_of(operand.op) != line)
        ]

    def _statement_of(self, op: ShardingConstraintOp) -> object:
        if op not in self._statement_keys:
            self._statement_keys[op] = statement_of(op, self._lines)
        return self._statement_keys[op]

    @cached_property
    def _statements(self) -> dict[object, list[OpResult]]:
        """The results of the constraints of each statement."""
        statements: dict[object, list[OpResult]] = {}
        for op in self._module.walk():
            key = self._statement_of(op) if isinstance(op, ShardingConstraintOp) else None
            if key is not None:
                statements.setdefault(key, []).append(op.results[0])
        return statements

    def value(self, gradient: Value) -> OpResult | BlockArgument | None:
        """The value whose gradient this is; None if it is none, or that of one of several."""
        if not isinstance(gradient, OpResult) or not is_backward(gradient.op):
            return None
        arguments = {
            operand: None
            for op in self._ops.get((line_of(gradient.op), False), ())
            for operand in op.operands
            if operand.type is gradient.type and isinstance(operand, OpResult | BlockArgument)
        }
        return next(iter(arguments)) if len(arguments) == 1 else None

    @cached_property
    def _ops(self) -> dict[tuple[object, bool], list[Op]]:
        """The operations of a line and column, by whether they are of a backward pass."""
        ops: dict[tuple[object, bool], list[Op]] = {}
        for op in self._with_lines():
            ops.setdefault((line_of(op), is_backward(op)), []).append(op)
        return ops

    def _with_lines(self) -> Iterator[Op]:
        for op in self._module.walk():
            if (not op.regions or isinstance(op, ScatterOp)) and source_location(op.location).line:
                yield op


class SourceText:
    """The text of a program in Python, from its files."""

    def __init__(self) -> None:
        self._files: dict[str, list[str]] = {}

    def text(self, point: Location | None) -> str:
        """The text in a range of a file; "" without the file."""
        if not isinstance(point, FileRange):
            return ""
        if point.file not in self._files:
            text = source_files([point.file], "", None).get(point.file, "")
            self._files[point.file] = text.splitlines()
        lines = self._files[point.file][point.line - 1 : point.end_line] if point.line > 0 else []
        # The file may be another one by now. Columns of Python are those of bytes, from 0.
        if len(lines) != point.end_line - point.line + 1 or len(lines[-1].encode()) < point.end_column:
            return ""
        lines[-1] = lines[-1].encode()[: point.end_column].decode("utf-8", "replace")
        lines[0] = lines[0].encode()[point.column :].decode("utf-8", "replace")
        return "\n".join(lines)


def _handed_on(edit: AnnotationEdit) -> AnnotationEdit:
    """The change of a gradient that its statement transposes: of what it gives to other statements."""
    while edit.is_new_constraint and isinstance(value := edit.subject, OpResult) and value.has_one_use:
        (user,) = value.users
        if (
            not isinstance(user, TransposeOp)
            or not is_backward(value.op)
            or line_of(user) != line_of(value.op)
        ):
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


def transposed(edit: AnnotationEdit) -> Iterator[AnnotationEdit]:
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


def is_of_loop(value: OpResult) -> bool:
    """Whether a loop's statement makes what the loop begins with, such as zeros that a scan fills."""
    line = line_of(value.op)
    return any(isinstance(user, WhileOp) and line_of(user) == line for user in value.users) and line[1] != 0


def line_of(op: Op) -> tuple[object, ...]:
    """The file, line and column of an operation."""
    return source_location(op.location)[:3]


def is_backward(op: Op) -> bool:
    """Whether an operation is one of a backward pass, other than a recomputed one."""
    return source_location(op.location).phase is Phase.BACKWARD
