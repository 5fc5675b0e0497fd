"""Answers questions about the shardings of a program.

explainer = Explainer(program)    # a `RecordedProgram`
target = explainer.target("%14")
with program.recording():
    run_pipeline(…)
explainer.answer(target, width)
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from sdyopt.analysis.changes.edits import is_input
from sdyopt.analysis.changes.effect import bytes_of_runs
from sdyopt.analysis.explain.advice import ExplainedChanges
from sdyopt.analysis.explain.arrival_text import Sentence, tree_text
from sdyopt.analysis.explain.collective_answers import collectives_of, explain_collective
from sdyopt.analysis.explain.collective_sides import subject_of
from sdyopt.analysis.explain.names import (
    RecordedProgram,
    axis_text,
    sharding_words,
    type_text,
)
from sdyopt.analysis.explain.targets import (
    CollectiveTarget,
    OutputTarget,
    ResultTarget,
    Target,
    ValueTarget,
    find_target,
    output_values,
    unknown_collective,
)
from sdyopt.analysis.explain.value_answers import COMPARED_WIDTH, explain_subject, summarize_subject
from sdyopt.analysis.figures.collective_traffic import COLLECTIVES
from sdyopt.analysis.figures.source_locations import GRADIENTS, Phase, source_location
from sdyopt.analysis.figures.units import bytes_text
from sdyopt.analysis.report.check.check_text import title_of, why
from sdyopt.analysis.report.check.checker import CheckResult, places_of
from sdyopt.analysis.sharding_record.model import PropagationRun
from sdyopt.base.diagnostics.text import counted
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.ops import ReshardOp, ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import block_or_result, sharding_of
from sdyopt.mlir.dialects.stablehlo.control_flow import WhileOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import is_private
from sdyopt.mlir.ir.types import RankedShapedType
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.mlir.value_names import name_of
from sdyopt.shardy.notation.partition_spec import jax_type, specs_of
from sdyopt.shardy.record import FunctionResult, Subject
from sdyopt.shardy.sharding.op_sharding_rule_builder import is_elementwise

# Of more values, such as those of a line, only the largest are explained.
_MAX_VALUES = 4

# Of a line, so many values are explained, of which those in other layers may have the same answer.
_MAX_EXPLAINED = 12
# Of the values that are sharded alike, so many operations are named.
_KINDS_SHOWN = 3
# The names and numbers that differ between layers.
_OF_LAYER = re.compile(r"%[\w$.]+(?:#\d+)?|(?<=\[)\d+(?=\])|(?<==#)\d+")


class ShardingExplainer:
    """Explains what passes do to the shardings of a program."""

    def __init__(self, program: RecordedProgram) -> None:
        self._program = program
        self._module, self._inputs = program.module, program.inputs
        self.record, self.names = program.record, program.names.describing()
        self.advice = ExplainedChanges(program.module, program.dialects)
        # The shardings of the values that questions are about, as they are in the source.
        self._written: dict[Value, TensorSharding | None] = {}

    def target(self, text: str) -> Target:
        """The target of a question, asked before passes run. Raises DiagnosticError, located in the text."""
        target = find_target(text, self._inputs)
        if isinstance(target, ValueTarget):
            self._written.update({value: sharding_of(value) for value in target.values})
        return target

    def answer(self, target: Target, width: int) -> str:
        """The answer to a question. Raises DiagnosticError if the record has none."""
        return "".join(tree_text(tree, width) for tree in self.trees(target))

    def trees(self, target: Target) -> list[Sentence]:
        """The answer to a question, one tree for each value that it is about."""
        self._program.check_is_propagated()
        if isinstance(target, CollectiveTarget):
            count = len(collectives_of(self._module))
            if target.number >= count:
                raise unknown_collective(target, count)
            return [self._explain_collective(target.number)]
        if isinstance(target, ResultTarget):
            results = [(target.function, target.number), *target.others]
            returned = [self._inputs.returned[result] for result in results]
            runs_by_value = {
                subject: run for result in results for subject, run in self._result(*result).items()
            }
            return self._explain_values(returned, runs_by_value, ValueTarget(returned, line=target.pattern))
        if isinstance(target, OutputTarget):
            values = output_values(self._module, target)
            trees = [self._explain_output(value, target.name) for value in values[:_MAX_VALUES]]
            more = len(values) - len(trees)
            return [*trees, Sentence(f"… and {more} more values of this name")] if more else trees
        return self._explain_values(target.values, target=target)

    def _explain_collective(self, number: int) -> Sentence:
        return explain_collective(self._module, number, self.record, self.names, self.advice)

    def _explain_output(self, value: Value, name: str) -> Sentence:
        """The answer about a value of the program after the passes."""
        subject = block_or_result(value)
        collectives = collectives_of(self._module)
        if isinstance(subject, OpResult) and subject.op in collectives:
            number = collectives.index(subject.op)
            tree = self._explain_collective(number)
        else:
            tree = self._explain_origin(subject)
        return Sentence(f"output {name} is {tree.text}", tree.source_line, tree.children)

    def _explain_origin(self, value: OpResult | BlockArgument) -> Sentence:
        """The answer about what propagation saw of a value."""
        if (subject := subject_of(value, self.record)) is not None:
            return explain_subject(self.record, *subject, self.names, self.advice)
        state = f"{self.names.value(value)}: {jax_type(type_text(value))}"
        if (sharding := sharding_of(value)) is not None:
            state += f" {sharding_words(sharding)}"
        root = Sentence(state, self.names.source_line_of_value(value))
        root.add("a pass after propagation creates it, so no propagation decided on its sharding")
        if source_line := root.source_line:
            root.add(f"see --explain={source_line} for the values that this line computes")
        return root

    def _explain_values(
        self,
        values: Sequence[Value],
        runs_by_subject: dict[Subject, PropagationRun] | None = None,
        target: ValueTarget | None = None,
    ) -> list[Sentence]:
        line, called = (target.line, target.called) if target else ("", frozenset())
        subjects = dict(runs_by_subject or {})
        of_called: set[Subject] = set()
        if not subjects:
            for value in values:
                of_value = self._without_dead_copies(self._subjects(value))
                subjects.update(of_value)
                of_called.update(of_value if value in called else ())
            if line:
                # The body of a collective is not what the line computes.
                own = {value: run for value, run in subjects.items() if not _is_in_collective(value)}
                subjects = own or subjects
        if not subjects:
            return [self._unrecorded(value) for value in values[:_MAX_VALUES]]
        if len(values) > 1:
            # Of a line, what a person wrote there comes before what it calls, and what JAX derives from it.
            phase = {value: _phase(run, value) for value, run in subjects.items()}
            is_many = len(subjects) > _MAX_VALUES

            def order(subject: Subject) -> tuple[bool, bool, int, int, bool, bool, bool, int]:
                owner = subjects[subject].edge_owners.get(subject, subject)
                is_derived = isinstance(owner, OpResult) and _is_derived(owner.op)
                is_saved = is_many and self._is_only_for_gradients(owner)
                is_scalar = is_many and _size(subject) < 2
                depth, size = (_depth(owner), -_size(subject)) if is_many else (0, 0)
                return (
                    *(subject in of_called, is_scalar, phase[subject]),
                    *(depth, is_saved, is_many and is_derived, is_many and _is_filled(owner), size),
                )

            subjects = {subject: subjects[subject] for subject in sorted(subjects, key=order)}
        elif len(subjects) > _MAX_VALUES:
            subjects = dict(sorted(subjects.items(), key=lambda item: -_size(item[0])))
        if target is not None and target.is_list:
            # Copies of a value have its name.
            listed = [self._listed(value, run) for value, run in subjects.items()]
            different_ones = list(
                {(sentence.text, sentence.source_line): sentence for sentence in listed}.values()
            )
            count = counted(len(different_ones), "value")
            return [Sentence(f"{count} of {line}, with their names for --explain"), *different_ones]
        # Copies of a value often have the same answer.
        different: dict[str, Sentence] = {}
        alike: dict[str, list[str]] = {}
        # Of a line, one value of each type and sharding is explained.
        first_of: dict[str, Sentence] = {}
        sharded_alike: dict[str, list[str]] = {}
        is_line = bool(line) and "*" not in line
        if is_short := is_line and len(subjects) > 1:
            # What is neither sharded nor sent is not what a question about a line is about.
            tensors = {value: run for value, run in subjects.items() if _size(value) > 1}
            subjects = tensors or subjects
        place = self._place_of(line, values) if is_line else None
        # What helps the line is said once.
        advice = self.advice if place is None else None
        hidden: list[tuple[Subject, PropagationRun]] = []
        explained = 0
        for subject, run in subjects.items():
            state = f"{type_text(subject)} {sharding_words(run.final[subject])}"
            if not is_short:
                where = self.names.source_line_of_subject(run, subject), _PHASES[_phase(run, subject)]
                state = f"{where} {state}"
            if is_line and state in first_of:
                sharded_alike.setdefault(state, []).append(self.names.title(run, subject)[0])
                continue
            if len(different) == _MAX_VALUES - is_short or explained == _MAX_EXPLAINED:
                hidden.append((subject, run))
                continue
            if is_short:
                tree = summarize_subject(self.record, run, subject, self.names, advice, line)
            else:
                tree = explain_subject(self.record, run, subject, self.names, advice)
            text = tree_text(tree, COMPARED_WIDTH)
            # So have those of a line in all layers.
            key = _OF_LAYER.sub("*", text) if line else text
            if key in different and text != tree_text(different[key], COMPARED_WIDTH):
                alike.setdefault(key, []).append(self.names.title(run, subject)[1])
            different.setdefault(key, tree)
            first_of[state] = different[key]
            explained += 1
        for key, named in alike.items():
            names = list(dict.fromkeys(filter(None, named)))
            such = f", such as {names[0]}" if names else ""
            more = f"{counted(len(named), 'more value')} of this {'name' if '*' in line else 'line'}{such}"
            different[key].add(f"the answer is the same for {more}")
        for state, titles in sharded_alike.items():
            kinds = list(dict.fromkeys(titles))
            more = f" and {len(kinds) - _KINDS_SHOWN} more" if len(kinds) > _KINDS_SHOWN else ""
            named_kinds = f": {', '.join(kinds[:_KINDS_SHOWN])}{more}"
            # Several values of one kind need no list.
            is_same = is_short and len(kinds) == 1 and first_of[state].text.startswith(f"{kinds[0]}: ")
            what = f"{counted(len(titles), 'more value')} of this line"
            so = f"so {'is' if len(titles) == 1 else 'are'} " if is_short else ""
            such = "" if is_short else ", type and sharding"
            first_of[state].add(f"{so}{what}{such}{'' if is_same else named_kinds}")
        asked = self.names.value(block_or_result(values[0])) if len(values) == 1 else ""
        trees = list(different.values())
        if is_line:
            # What is sent, and then what can be changed, is read first.
            trees.sort(key=lambda tree: not _has_help(tree))
            trees = [*([] if place is None else [place]), *trees]
        trees = trees if line else _numbered(trees, asked)
        for value in values:
            self._add_removed(trees[0], self._written.get(value))
        if len(values) == 1 and not line:
            self._add_moved(trees[0], values[0])
        if hidden or is_short:
            first = self._question(*next(iter(subjects.items()))) if is_short else ""
            trees.append(Sentence(self._hidden_text(hidden, line, first)))
        return trees

    def _place_of(self, line: str, values: Sequence[Value]) -> Sentence | None:
        """What a line sends and why, or states, and what to write, as in a check; None if it does neither."""
        if not collectives_of(self._module):
            return None
        report = self.advice.report_on(self._module)
        there = (
            place
            for place in places_of(report.collectives)
            if line in (place.largest.location.file_text, place.largest.location.path_text)
        )
        if (place := next(there, None)) is None:
            tree = Sentence(f"{line} states a sharding, and sends nothing itself")
            is_stated = any(
                isinstance(value, OpResult) and isinstance(value.op, ShardingConstraintOp | ReshardOp)
                for value in values
            )
            return tree if is_stated and self.advice.add_written_on(tree, line) else None
        most = place.largest
        tree = Sentence(title_of(CheckResult(report, [], None, True), place))
        self.advice.add_for_line(tree, place.key, why(place))
        tree.add(f"see --explain='#{most.number}' for the {most.kind} that sends most")
        return tree

    def _add_moved(self, tree: Sentence, value: Value) -> None:
        """Adds which collective sends most of an argument, and the change that it is a part of."""
        subject = block_or_result(value)
        if not isinstance(subject, BlockArgument) or not is_input(subject):
            return
        if not collectives_of(self._module):
            return
        name = name_of(subject)
        pairs = [
            (number, collective)
            for number, collective in enumerate(self.advice.report_on(self._module).collectives)
            if name and collective.moved == name and bytes_of_runs(collective)
        ]
        if pairs:
            number, most = max(pairs, key=lambda item: bytes_of_runs(item[1]))
            sent = bytes_text(sum((bytes_of_runs(collective) for _, collective in pairs), Fraction(0)))
            first = f"#{number} {most.kind} along {most.axes}"
            if len(pairs) == 1:
                node = tree.add(f"a use needs another sharding: {first} sends {sent} of it")
            else:
                node = tree.add(
                    f"uses need other shardings: {len(pairs)} collectives send {sent} of it, most {first}"
                )
            node.add(
                f"{specs_of(most.change)}; see --explain=#{number}"
                if most.change
                else f"see --explain=#{number}"
            )
        if not _has_help(tree):
            self.advice.add_for_input(tree, subject)

    def _hidden_text(
        self, hidden: Sequence[tuple[Subject, PropagationRun]], line: str, first: str = ""
    ) -> str:
        """The number of values that are not explained, how to list those of a line, and `first` in full."""
        parts: list[str] = []
        if hidden:
            phases = Counter(_PHASES[_phase(run, value)] for value, run in hidden)
            listed = ", ".join(f"{phases[phase]} {phase}" for phase in _PHASES if phases[phase])
            of = f" ({listed})" if line and len(phases) > 1 else ""
            parts.append(f"… and {counted(len(hidden), 'more value')}{of}")
        if line and "*" not in line:
            parts.append(f"--explain='{line} all' lists {'them' if hidden else 'the values'}")
        if first:
            parts.append(f"--explain='{first}' explains one in full")
        return "; ".join(parts)

    def _listed(self, subject: Subject, run: PropagationRun) -> Sentence:
        """A value in a list: its sharding, and how to ask for it."""
        sharding, (title, _) = run.final[subject], self.names.title(run, subject)
        ask = self._question(subject, run)
        return Sentence(f"{title}: {jax_type(type_text(subject))} {sharding_words(sharding)}", f"'{ask}'")

    def _question(self, subject: Subject, run: PropagationRun) -> str:
        """What --explain is asked for a value."""
        title, name = self.names.title(run, subject)
        name, of, function = (name or title).partition(" of @")
        return f"@{function} {name}" if of else name

    def _is_only_for_gradients(self, subject: Value | FunctionResult) -> bool:
        """Whether only the backward pass uses a value, such as what a loop saves for it; or nothing does."""
        if not isinstance(subject, OpResult):
            return False
        values = self.record.values.successors(subject)
        users = [
            user for value in values for user in value.users if user.signature.name != "sdy.data_flow_edge"
        ]
        return all(source_location(user.location).phase in GRADIENTS for user in users)

    def _add_removed(self, tree: Sentence, written: TensorSharding | None) -> None:
        """Adds the axes of size one in the annotation of a value."""
        left = None if written is None else self.record.without_size_one.get(written)
        if written is None or left is None:
            return
        for dim, (old, new) in enumerate(zip(written.dims, left.dims, strict=True)):
            for axis in old.axes:
                if axis not in new.axes:
                    text = f"{axis_text(axis)} does not shard dimension {dim}, though the annotation has it"
                    tree.add(text).add("axes of size 1 are removed before propagation")

    def _subjects(self, value: Value) -> dict[Subject, PropagationRun]:
        """The subjects with the sharding of a value or its copies, in the last run of propagation with it.

        In program order: some passes insert copies before the original, some after it.
        """
        for run in reversed(self.record.runs):
            values = self.record.values.descendants(value)
            result = [run.subject_of.get(value) or run.subject_of_owner.get(value) for value in values]
            if subjects := {value for value in result if value is not None}:
                in_order = run.final if len(subjects) > 1 else subjects
                return {value: run for value in in_order if value in subjects}
        return {}

    def _without_dead_copies(self, subjects: dict[Subject, PropagationRun]) -> dict[Subject, PropagationRun]:
        """The subjects of a value without copies that nothing uses, such as results of a cloned function."""
        used = {value: run for value, run in subjects.items() if self._is_used(run, value)}
        return used or subjects

    def _is_used(self, run: PropagationRun, subject: Subject) -> bool:
        if isinstance(subject, FunctionResult):
            return True
        owner = run.edge_owners.get(subject, subject)
        return any(successor.has_uses for successor in self.record.values.successors(owner))

    def _result(self, function: str, number: int) -> dict[Subject, PropagationRun]:
        subject = FunctionResult(self._inputs.functions[function], number)
        run = self.record.runs[-1]
        return {subject: run} if subject in run.final else {}

    def _unrecorded(self, value: Value) -> Sentence:
        name = self.names.value(block_or_result(value))
        written = self._written.get(value)
        state = "has no sharding" if written is None else f"is annotated with {sharding_words(written)}"
        root = Sentence(f"{name} {state}", self.names.source_line_of_value(block_or_result(value)))
        root.add("no sharding propagates along the operations that compute or use it")
        return root


def _has_help(tree: Sentence) -> bool:
    """Whether an answer says what to write."""
    return tree.text.startswith("help:") or any(map(_has_help, tree.children))


def _numbered(trees: list[Sentence], asked: str) -> list[Sentence]:
    """The answers about copies of one value, which each say which of them it is about.

    If `asked` is the name of the only value that is explained, all answers are about copies of it, also those
    that have another name: what a call returns replaces the call.
    """
    names = [_name(tree) for tree in trees]
    if asked and len(set(names)) > 1:
        texts = [asked + tree.text.removeprefix(_name(tree)) for tree in trees]
        names = [asked] * len(trees)
    else:
        texts = [tree.text for tree in trees]
    counts = Counter(names)
    seen: Counter[str] = Counter()
    numbered = []
    for tree, name, text in zip(trees, names, texts, strict=True):
        seen[name] += 1
        if counts[name] > 1:
            text = f"{name} (copy {seen[name]} of {counts[name]}){text.removeprefix(name)}"
        numbered.append(Sentence(text, tree.source_line, tree.children))
    return numbered


def _name(tree: Sentence) -> str:
    """The name of the value that an answer is about."""
    return tree.text.partition(": ")[0]


# The order of the parts of a training step in an answer.
_PHASES = (Phase.FORWARD, Phase.REMATERIALIZED, Phase.BACKWARD, Phase.UPDATE, Phase.UNKNOWN)


def _phase(run: PropagationRun, subject: Subject) -> int:
    """The position in `_PHASES` of the part of a training step that a subject is in."""
    owner = run.edge_owners.get(subject, subject)
    return _PHASES.index(source_location(owner.op.location).phase) if isinstance(owner, OpResult) else 0


def _is_in_collective(subject: Subject) -> bool:
    return isinstance(subject, OpResult) and isinstance(subject.op.parent_op, COLLECTIVES)


def _is_derived(op: Op) -> bool:
    """Whether an operation is not what a line is about, such as the activation of a product."""
    return isinstance(op, BroadcastInDimOp) or is_elementwise(op.signature)


def _is_filled(value: Subject | Value) -> bool:
    """Whether each element of a value is the same, such as the momentum of an optimizer."""
    if not isinstance(value, OpResult) or not isinstance(value.op, BroadcastInDimOp):
        return False
    return _size(block_or_result(value.op.operands[0])) < 2


def _depth(subject: Subject | Value) -> int:
    """The number of loops and private functions around what computes a value."""
    if not isinstance(subject, OpResult):
        return 0
    inside = [ancestor for ancestor in subject.op.ancestors() if isinstance(ancestor, WhileOp)]
    function = subject.op.parent_of_type(FuncOp)
    return len(inside) + (function is not None and is_private(function))


def _size(subject: Subject) -> int:
    """The number of elements of a subject."""
    type = None if isinstance(subject, FunctionResult) else subject.type
    return type.num_elements if isinstance(type, RankedShapedType) and type.has_static_shape else 0
