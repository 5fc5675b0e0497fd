"""Names of places and texts of changes, in JAX's words: all that is said of a change is said here.

names = Names(module)
names.text(change)             # shard the input params['w'] as P('x'), and params['v'] likewise
names.place(edit)              # params['w'], result[0], or model.py:12 (dot_general)
names.sdy_text(change)         # [{"x"}] on %arg0; 2 more
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any

from sdyopt.analysis.changes.axes import Axes, axes_of_product, axes_of_sharding
from sdyopt.analysis.changes.edits import AnnotationEdit, Change, annotation_of, is_input, written
from sdyopt.analysis.changes.originals import Gradients, SourceText
from sdyopt.analysis.changes.outcome import changed_results
from sdyopt.analysis.changes.trial import Annotation, Trial
from sdyopt.analysis.changes.trials import Trials
from sdyopt.analysis.figures.execution_counts import (
    CONTROL_FLOW,
    CallLocations,
    ExecutionCounts,
    functions_in,
)
from sdyopt.analysis.figures.source_locations import (
    GRADIENTS,
    NO_LOCATION,
    Phase,
    SourceLocation,
    UserLines,
    constraint_text,
    is_derived,
    is_in_call,
    is_out_sharding,
    operation_text,
    source_location,
)
from sdyopt.analysis.figures.tensor_origins import TensorOrigins
from sdyopt.base.diagnostics.location import FileRange, resolve_file_location
from sdyopt.base.diagnostics.text import counted
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.asm.printer.ssa_names import SsaNames
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp, ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import owning_op
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp
from sdyopt.mlir.dialects.stablehlo.control_flow import WhileOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp, ReshapeOp
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicSliceOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import symbol_name
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.mlir.value_names import name_of, name_of_result, pattern_of, result_text, tree_of_values
from sdyopt.shardy.notation.partition_spec import jax_type
from sdyopt.shardy.record import FunctionResult, Subject

# Texts name at most this many of the values of a change.
_SHOWN = 2
# A statement shards values otherwise that a change leaves as they are.
_STAY = " (others stay)"
# A longer expression is not repeated.
_LONGEST_EXPRESSION = 48
# Texts name at most this many of the other lines that have the same constraint.
_OTHER_LINES, _OF_ONE_FILE = 4, 12


class ChangeNames:
    """Names values of a program as it is printed, and arguments and lines as JAX names them.

    `in_source` are the names of values that the program was read with.
    """

    def __init__(self, module: Op, in_source: Mapping[Value, str] = MappingProxyType({})) -> None:
        self._module, self._in_source = module, in_source
        self._lines = UserLines.of_module(module)
        self._gradients = Gradients(module)
        self._source = SourceText()
        self._has_one_function = len(functions_in(module)) == 1

    @cached_property
    def _ssa(self) -> dict[Value, str]:
        return {**SsaNames(self._module).names, **self._in_source}

    @cached_property
    def _is_explicit(self) -> bool:
        """Whether the axes of the mesh are explicit, so that JAX constrains the result of each operation."""
        return any(isinstance(op, ShardingConstraintOp) and is_out_sharding(op) for op in self._module.walk())

    @cached_property
    def _calls(self) -> CallLocations:
        return CallLocations(ExecutionCounts(self._module))

    @cached_property
    def is_of_jax(self) -> bool:
        """Whether operations have lines of Python, so that all that is written has one."""
        locations = (source_location(op.location) for op in self._module.walk())
        return any(location.line and location.name_stack for location in locations)

    # --- Values -------------------------------------------------------------------------------------

    def sdy(self, subject: Subject) -> str:
        """`%5`, or `%5 of @f` if there are several functions."""
        if isinstance(subject, FunctionResult):
            return ""
        op = owning_op(subject)
        function = op if isinstance(op, FuncOp) else op.parent_of_type(FuncOp)
        name = self._ssa[subject]
        if self._has_one_function or function is None:
            return name
        return f"{name} of @{symbol_name(function)}"

    def jax(self, subject: Subject) -> str:
        """`params['w']` for an argument with a name, `the dot_general at model.py:12` for a value of JAX."""
        if isinstance(subject, FunctionResult):
            return result_text(*subject)
        location = source_location(subject.location)
        if is_input(subject):
            return location.name_stack or self._ssa[subject]
        gradient = "in the backward pass of " if location.phase is Phase.BACKWARD else ""
        if not location.line:
            return self._ssa[subject]
        if not location.name_stack:
            return f"{self._ssa[subject]} ({gradient}{location.file_text})"
        weight = self._gradients.value(subject) if gradient else None
        if isinstance(weight, BlockArgument) and is_input(weight) and weight is not subject:
            return f"the gradient of {self.jax(weight)}"
        name = operation_text(owning_op(subject))
        line = self._lines.chosen(location).file_text
        if gradient:
            return f"the {name} {gradient}{line}"
        if sliced := self._sliced_in_loop(subject):
            return f"{sliced} in the body of the loop at {line}"
        return f"{self._expression(subject) or f'the {name}'} at {line}"

    def _sliced_in_loop(self, subject: OpResult | BlockArgument) -> str:
        """`params['w']` for the slice of it that an iteration takes, which has no line; "" for none."""
        op = owning_op(subject)
        if isinstance(op, ReshapeOp) and isinstance(slice_op := op.operand.defining_op, DynamicSliceOp):
            op = slice_op
        if not isinstance(op, DynamicSliceOp) or not isinstance(op.parent_op, WhileOp):
            return ""
        return self._origins.name(op.operand_at(0))

    @cached_property
    def _origins(self) -> TensorOrigins:
        return TensorOrigins(ExecutionCounts(self._module))

    def _expression(self, subject: OpResult | BlockArgument) -> str:
        """`h @ p['up']`: the expression of Python whose value it is; "" if it is long, or no file."""
        point = resolve_file_location(subject.location)
        if not isinstance(point, FileRange) or not isinstance(subject, OpResult):
            return ""
        last = self._last_at.get(point)
        if last is None or (last.signature.name, last.result_types) != (
            subject.op.signature.name,
            subject.op.result_types,
        ):
            return ""
        expression = self._source.text(point)
        is_short = "\n" not in expression and len(expression) <= _LONGEST_EXPRESSION
        return expression if is_short and _is_expression(expression) else ""

    @cached_property
    def _last_at(self) -> dict[FileRange, Op]:
        """The last operation of each expression of the forward pass."""
        last: dict[FileRange, Op] = {}
        for op in self._module.walk():
            is_of_body = isinstance(op.parent_op, (*CONTROL_FLOW, FuncOp, ManualComputationOp))
            if not is_of_body or isinstance(op, ShardingConstraintOp):
                continue
            point = resolve_file_location(op.location)
            if isinstance(point, FileRange) and source_location(op.location).phase not in GRADIENTS:
                last[point] = op
        return last

    def place(self, edit: AnnotationEdit) -> str:
        """`params['w']`, `result[0]`, or `model.py:12 (dot_general)`."""
        subject = edit.subject
        if isinstance(subject, FunctionResult):
            return name_of_result(subject.function, subject.result_index) or f"result {subject.result_index}"
        if isinstance(subject, BlockArgument) and edit.is_boundary:
            return name_of(subject) or f"argument {subject.index}"
        location = source_location(subject.location)
        line = self._lines.chosen(location).file_text or self._ssa[edit.named]  # type: ignore[index]
        if edit.replaced is not None:
            # A statement constrains the gradient, too.
            return f"{line} ({constraint_text(edit.replaced).removeprefix('with_')})"
        weight = self._gradients.value(subject) if edit.how else None
        if isinstance(weight, BlockArgument) and is_input(weight) and (name := name_of(weight)):
            return f"the gradient of {name}"
        op = operation_text(subject.op) if isinstance(subject, OpResult) else "a loop's value"
        # JAX gives what computes the gradient of an operand the line of the operation.
        gradient = "gradient of an operand of " if location.phase is Phase.BACKWARD else ""
        return f"{gradient}{line} ({op})"

    # --- Changes ------------------------------------------------------------------------------------

    def text(self, change: Change) -> str:
        """What to write: `shard the input params['w'] as P('x'), and params['v'] likewise`."""
        if change.parts:
            return "; ".join(map(self.text, change.parts))
        if not change.edits:
            return change.words[0]
        if change.title:
            specs, derived = self._specs_at_lines(change)
            if specs:
                also = f"; where out_sharding is written, too: {_listed(derived, _OTHER_LINES)}"
                return f"{change.title}: write {_listed(specs, _OTHER_LINES)}{also if derived else ''}"
            constraints = self._of_constraints(change)
            text = ", ".join([self._difference(change), *constraints[:_OTHER_LINES]])
            return f"{change.title}: {text}"
        edits = change.edits
        after, written_edits = written((change,)), written_in_jax(edits)
        followed = [edit for edit in written_edits if follows(edit, {}) and follows(edit, after)]
        stated = [edit for edit in written_edits if edit not in followed] or written_edits
        first = min(stated, key=lambda edit: bool(edit.how))
        text = first.text(self.jax(first.named), self._is_explicit)
        different = {edit.spec for edit in stated}
        if (lines := self._statements(stated)) and not first.is_removal and len(different) > 1:
            return f"write {_listed(self._specs_at_lines(Change(tuple(stated)))[0], _OTHER_LINES)}"
        if lines:
            also = self._statements(followed) if len(stated) < len(written_edits) else ""
            too = f"; where out_sharding is written, too: {followed[0].spec} at {also}" if also else ""
            return f"{first.text_at(lines, self._call(first))}{self._of_values(stated)}{too}"
        if first.is_new_constraint and self._is_of_one_statement(edits):
            # JAX constrains the gradient by itself.
            return f"{text}, which constrains its gradient, too"
        # Those of other layers have the same name, and so may what a step returns.
        by_spec: dict[str, list[str]] = {}
        derived_specs: dict[str, list[AnnotationEdit]] = {}
        for edit in written_edits:
            if edit not in stated and edit.replaced is not None and is_out_sharding(edit.replaced):
                derived_specs.setdefault(edit.spec, []).append(edit)
                continue
            named = by_spec.setdefault(edit.spec, [])
            op, name = edit.replaced, self.jax(edit.named)
            if op is not None and first.is_of_input and not (is_derived(op) or is_out_sharding(op)):
                name = f"the {constraint_text(op)} at {self._at(edit).file_text}"
            named += [] if name in named else [name]
        like = by_spec.pop(first.spec)
        like.remove(self.jax(first.named))
        apart = "".join(
            f"; {spec} for {named[0]}{f' and {len(named) - 1} more' if named[1:] else ''}"
            for spec, named in by_spec.items()
        )
        others = len(like) - _SHOWN
        shown = ", ".join(like[:_SHOWN]) + (f" and {others} more" if others > 0 else "")
        at = [f"{spec} at {self._statements(group)}" for spec, group in derived_specs.items()]
        too = f"; where out_sharding is written, too: {_listed(at, _OTHER_LINES)}" if at else ""
        return f"{text}, and {shown} likewise{apart}{too}" if like else f"{text}{apart}{too}"

    def _is_of_one_statement(self, edits: Sequence[AnnotationEdit]) -> bool:
        """Whether edits are those of one statement, in all layers, and of its gradient."""
        forward = [
            edit
            for edit in edits
            if isinstance(edit.subject, OpResult)
            and source_location(edit.subject.location).phase is not Phase.BACKWARD
        ]
        constrained = {edit.subject for edit in self._gradients.constrained(forward)}
        return (
            len({self.jax(edit.named) for edit in forward}) == 1
            and len(edits) > len(forward)
            and all(edit.subject in constrained for edit in edits)
        )

    def sdy_text(self, change: Change) -> str:
        """The first edit in Shardy's words, and how many more there are; "" for what has none."""
        if not change.edits:
            return change.words[1]
        first, more = change.edits[0], len(change.edits) - 1
        return f"{first.sdy(self.sdy(first.named))}{f'; {more} more' if more else ''}"

    def now(self, change: Change) -> str:
        """What is written there now; "" for a result without an annotation, or several places.

        What is written otherwise than at the first place is named: `P('x'), and P(None, 'x') for opt['mu']`.
        """
        if not change.edits or change.title or change.parts:
            return ""
        # What propagation gives a result is not written.
        if isinstance(subject := change.edits[0].subject, FunctionResult) and annotation_of(subject) is None:
            return ""
        first, *others = change.edits
        result, named = self._now_of(first), dict[str, dict[str, None]]()
        for edit in written_in_jax(others):
            # What JAX derives is not written.
            if isinstance(edit.subject, FunctionResult) or (edit.replaced and is_derived(edit.replaced)):
                continue
            if (now := self._now_of(edit)) != result:
                line = 0 if edit.replaced is None else self.location(edit.subject).line
                named.setdefault(now, {})[f"line {line}" if line else self.jax(edit.named)] = None
        for now, names in named.items():
            result += f", and {now} for {_listed(list(names), 1)}"
        return result

    def _now_of(self, edit: AnnotationEdit) -> str:
        """What is written in place of an edit."""
        current = annotation_of(edit.subject)
        if current is None:
            return "without an annotation"
        return edit._replace(sharding=current).jax or sdy_text(current)

    def _difference(self, change: Change) -> str:
        """`write P('x') for opt['nu']['w'] and 3 more (now P(None, 'x'))`: inputs that it shards otherwise.

        Those that are sharded alike, before and after, are counted together. Without inputs, it is all edits.
        """
        inputs = [
            edit
            for edit in inputs_first(change.edits)
            if edit.is_of_input and annotation_of(edit.subject) not in (None, edit.sharding)
        ]
        alike: dict[tuple[str, str], dict[str, None]] = {}
        for edit in inputs or change.edits:
            now = f" (now {self.now(Change((edit,)))})" if inputs else ""
            alike.setdefault((edit.jax or sdy_text(edit.sharding), now), {})[self.place(edit)] = None
        groups = sorted(alike.items(), key=lambda item: -len(item[1]))
        texts = []
        for (spec, now), places in groups[:_SHOWN]:
            first, *more = places
            texts.append(f"{spec} for {first}{f' and {len(more)} more' if more else ''}{now}")
        others = sum(len(places) for _, places in groups[_SHOWN:])
        also = f", and {counted(others, 'other')} likewise" if others else ""
        return f"write {' and '.join(texts)}{also}"

    def location(self, value: OpResult | BlockArgument) -> SourceLocation:
        """The line of a value that a person would change, which may call a helper."""
        op = owning_op(value)
        location = self._calls.completed(source_location(op.location), op)
        return self._lines.chosen(location) if location.line and not is_input(value) else NO_LOCATION

    def _specs_at_lines(self, change: Change) -> tuple[list[str], list[str]]:
        """`P('x') in the reshard at model.py:12`: statements of several constraints, in their order.

        Those that JAX derives from the others are apart: they are changed only if the program writes them.
        """
        edits = written_in_jax(change.edits)
        if not all(edit.replaced is not None for edit in edits):
            return [], []
        after = written((change,))
        at = {edit: self._at(edit) for edit in edits}
        followed = {edit for edit in edits if follows(edit, {}) and follows(edit, after)}
        stated = {at[edit][:2] for edit in edits if edit not in followed}
        groups: tuple[dict[str, list[AnnotationEdit]], dict[str, list[AnnotationEdit]]] = {}, {}
        for edit in sorted(edits, key=lambda edit: at[edit][:2]):
            is_apart = edit in followed and at[edit][:2] not in stated and bool(stated)
            spec = edit.spec if is_apart else edit.written_spec(self._call(edit))
            groups[is_apart].setdefault(spec, []).append(edit)
        texts: tuple[list[str], list[str]] = [], []
        for number, group in enumerate(groups):
            # What is written in one statement for several values is said with it once.
            by_statement: dict[tuple[str, str], list[str]] = {}
            among = [edit for alike in group.values() for edit in alike]
            for spec, alike in group.items():
                argument, separator, statement = spec.partition(" in ")
                lines, of = _lines_text([at[edit] for edit in alike]), self._of_values(alike, among)
                by_statement.setdefault((f"{separator}{statement}", lines), []).append(f"{argument}{of}")
            for (where, lines), specs in by_statement.items():
                stay = _STAY if any(spec.endswith(_STAY) for spec in specs) else ""
                listed = _listed([spec.removesuffix(_STAY) for spec in specs], _OTHER_LINES)
                texts[number].append(f"{listed}{where} at {lines}{stay}")
        return texts

    def _at(self, edit: AnnotationEdit) -> SourceLocation:
        assert not isinstance(edit.subject, FunctionResult)
        return self.location(edit.subject)

    @cached_property
    def _constrained(self) -> dict[tuple[str, int, str], list[OpResult]]:
        """The values that each statement of a program constrains, without gradients, by line and kind."""
        result: dict[tuple[str, int, str], list[OpResult]] = {}
        for op in self._module.walk():
            is_gradient = source_location(op.location).phase in GRADIENTS
            if isinstance(op, ShardingConstraintOp) and isinstance(op.output, OpResult) and not is_gradient:
                result.setdefault(self._statement(op), []).append(op.output)
        return result

    def _statement(self, op: ShardingConstraintOp) -> tuple[str, int, str]:
        location = self.location(op.results[0])
        return location.file, location.line, constraint_text(op)

    def _of_values(self, edits: Sequence[AnnotationEdit], among: Sequence[AnnotationEdit] = ()) -> str:
        """` for ['up'] and ['down']`; "" if statements shard all of their values alike.

        A statement constrains several values in a `jax.tree.map`, or if it takes a tree. ` (others stay)`
        follows if it constrains more values than those of edits, and of those `among` which they are.
        """
        values, changed = (
            [edit.subject for edit in group if edit.replaced is not None] for group in (edits, among or edits)
        )
        statements = {self._statement(edit.replaced): None for edit in edits if edit.replaced is not None}
        constrained = [self._constrained.get(statement, []) for statement in statements]
        if not any(len({value.type for value in tree}) > 1 for tree in constrained):
            return ""
        total = sum(map(len, constrained))
        if len(values) >= total:
            return f" for all {total // len(constrained)} values of the tree"
        names: dict[str, None] = {}
        for tree in constrained:
            of_tree = tree_of_values(self._module, tree)
            for number, value in enumerate(tree):
                if value in values:
                    name = "" if of_tree is None else name_of(of_tree[1][number]).removeprefix(of_tree[0])
                    names[pattern_of(name) or jax_type(plain_type(value.type))] = None
        stay = "" if len(changed) >= total else _STAY
        return f" for {_listed(list(names), _OTHER_LINES)}{stay}"

    def _call(self, edit: AnnotationEdit) -> str:
        """`jnp.zeros(…)`: the call with an `out_sharding` that a constraint is of; "" if it is not known."""
        op = edit.replaced
        if op is None or not (is_out_sharding(op) or is_in_call(op)):
            return ""
        return call_with_out_sharding(self._source.text(resolve_file_location(op.location)))

    def _of_constraints(self, change: Change) -> list[str]:
        """`P('x') in the reshard at model.py:12`: constraints, in a change of inputs and constraints."""
        of_inputs = {edit.subject for edit in change.edits if edit.is_of_input}
        others = tuple([edit for edit in change.edits if edit.subject not in of_inputs])
        return self._specs_at_lines(Change(others))[0] if of_inputs and others else []

    def _statements(self, edits: Sequence[AnnotationEdit]) -> str:
        """`moe.py:46`: where JAX programs write the constraints; "" if one of them is none of JAX.

        A statement constrains the gradient, too.
        """
        locations = []
        for edit in written_in_jax(edits):
            location = source_location(edit.replaced.location) if edit.replaced is not None else None
            if location is None or not location.line or not location.name_stack:
                return ""
            locations.append(self._lines.chosen(location))
        return _lines_text(locations)

    # --- Trials -------------------------------------------------------------------------------------

    def annotation(self, edit: AnnotationEdit) -> Annotation:
        """An edit as what is written where."""
        return Annotation(self.place(edit), edit.jax, sdy_text(edit.sharding))

    def worded(self, trial: Trial, trials: Trials) -> Trial:
        """A trial with its words."""
        change = trial.change
        annotations = tuple(map(self.annotation, change.edits)) or (Annotation("", None, change.words[1]),)
        functions = {op.sym_name: op for op in functions_in(trials.module)}
        results = []
        edits = [edit.subject for made in (*trials.made, change) for edit in made.edits]
        for name, number in changed_results(trials.results, trial.shardings or {}, edits):
            sharding = (trial.shardings or {})[name, number]
            if sharding is not None and (mesh := change.edits[0].mesh if change.edits else None) is not None:
                results.append(
                    self.annotation(AnnotationEdit(FunctionResult(functions[name], number), sharding, mesh))
                )
        return trial._replace(
            text=self.text(change),
            now=self.now(change),
            annotations=annotations,
            results=tuple(results),
            texts=tuple(map(self.text, change.parts)),
        )


def _lines_text(locations: Iterable[SourceLocation]) -> str:
    """`moe.py:46, 50 and 52`, in the order of the files."""
    lines = {(location.file, location.line): location.file_text for location in locations}
    lines = dict(sorted(lines.items()))
    first, *others = lines.values()
    is_one_file = len({file for file, _ in lines}) == 1
    if len(others) > (_OF_ONE_FILE if is_one_file else _OTHER_LINES):
        return f"{first} and {len(others)} other lines"
    if is_one_file:
        others = [str(line) for _, line in list(lines)[1:]]
    return " and ".join(filter(None, [", ".join([first, *others[:-1]]), *others[-1:]]))


def _listed(texts: Sequence[str], most: int) -> str:
    """`first, second and 3 more`."""
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return f"{', '.join(texts[:most])}{more}"


def written_in_jax(edits: Iterable[AnnotationEdit]) -> list[AnnotationEdit]:
    """The edits that a person makes: those of what is written otherwise.

    With explicit axes, JAX derives the shardings of other operations from them.
    """
    result = list(edits)
    return [edit for edit in result if edit.replaced is None or _is_written(edit)] or result


def _is_written(edit: AnnotationEdit) -> bool:
    assert edit.replaced is not None
    is_changed = edit.is_removal or edit.replaced.sharding is not edit.sharding
    # JAX derives the constraints of gradients, too.
    is_gradient = source_location(edit.replaced.location).phase in GRADIENTS
    return is_changed and not is_gradient and not is_derived(edit.replaced)


def follows(edit: AnnotationEdit, edits: Mapping[Subject, AnnotationEdit]) -> bool:
    """Whether JAX derives the sharding of a product or a broadcast from those of operands, after edits."""
    op = edit.replaced
    source = op.input.op if op is not None and isinstance(op.input, OpResult) else None
    if op is None or not isinstance(source, DotGeneralOp | BroadcastInDimOp):
        return False

    def axes(value: Value) -> Axes | None:
        assert isinstance(value, OpResult | BlockArgument)
        sharding = edits[value].sharding if value in edits else annotation_of(value)
        return axes_of_sharding(sharding, value.type.rank) if isinstance(value.type, RankedTensor) else None

    operands = [axes(value) for value in source.operands]
    wanted, first = axes(op.output), operands[0]
    if wanted is None or first is None:
        return False
    if isinstance(source, BroadcastInDimOp):
        derived: Axes = ((),) * len(wanted)
        for names, dim in zip(first, source.broadcast_dimensions, strict=True):
            derived = (*derived[:dim], names, *derived[dim + 1 :])
        return any(first) and derived == wanted
    second, dims = operands[1], source.dot_dimension_numbers
    if second is None or any(first[left] != second[right] for left, right in dims.batching):
        return False
    if any(first[left] and second[right] for left, right in dims.contracting):
        return False
    return axes_of_product(first, second, dims) == wanted


def inputs_first(edits: Iterable[AnnotationEdit]) -> list[AnnotationEdit]:
    """Edits in an order in which the inputs come first."""
    return sorted(edits, key=lambda edit: not edit.is_of_input)


def sdy_help(trial: Trial, names: ChangeNames) -> str:
    """A change in Shardy's words for a program without lines of Python; "" with them."""
    shown = "" if names.is_of_jax else names.sdy_text(trial.change)
    return f"in sdy: {shown}" if shown else ""


def sdy_text(sharding: TensorSharding) -> str:
    """A sharding as it is printed."""
    return TensorSharding.assembly.text(sharding)


def _is_expression(text: str) -> bool:
    return _parsed(text) is not None


def _parsed(text: str) -> Any:
    import ast  # noqa: PLC0415  slow to import

    try:
        return ast.parse(f"({text})", mode="eval").body if text else None
    except (SyntaxError, ValueError):
        return None


# The calls of JAX that take an `out_sharding`, and are more than an operation of that name.
_CALLS = {
    *("zeros", "ones", "full", "empty", "zeros_like", "ones_like", "full_like", "arange", "array", "asarray"),
    *("broadcast_to", "dot", "einsum", "matmul", "tensordot", "reshape", "ravel", "repeat", "one_hot", "get"),
    *("dot_general", "conv_general_dilated"),
}


def call_with_out_sharding(text: str) -> str:
    """`jnp.zeros(…)` for a call that takes an `out_sharding`, `jnp.matmul(x, w) for x @ w`; "" for others."""
    import ast  # noqa: PLC0415  slow to import

    expression = _parsed(text)
    if isinstance(expression, ast.BinOp) and isinstance(expression.op, ast.MatMult):
        if len(text) > _LONGEST_EXPRESSION or "\n" in text:
            return "jnp.matmul(…) for the product"
        left, right = ast.unparse(expression.left), ast.unparse(expression.right)
        return f"jnp.matmul({left}, {right}) for {text}"
    if not isinstance(expression, ast.Call) or not isinstance(expression.func, ast.Attribute | ast.Name):
        return ""
    function = expression.func
    name = function.attr if isinstance(function, ast.Attribute) else function.id
    if name not in _CALLS:
        return ""
    if name == "get":
        # Of `x.at[…].get(…)`.
        of = function.value if isinstance(function, ast.Attribute) else None
        whole = ast.unparse(of.value) if isinstance(of, ast.Subscript) else ""
        return f"{whole}[…].get(…)" if whole.endswith(".at") and len(whole) <= _LONGEST_EXPRESSION else ""
    return f"{ast.unparse(function)}(…)" if len(ast.unparse(function)) <= _LONGEST_EXPRESSION else ""
