"""Advice that gives an axis to a value: changes of shardings that were tried on the program.

    advice = Advice(module, dialects)           # before passes
    advice.add_to(node, absence, record, run, names)    # after them

Each change is written into a copy of the program as it was read, and the propagation pipeline runs on it. Of
the changes with which the value has the axis, one that makes no figure worse is shown, if there is one, with
its effect; or one of the search of all analyses, if that is better. For a collective or a line, it is the
best change for the line that this search has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import prod

from sdyopt.analysis.changes.edits import (
    AnnotationEdit,
    Change,
    annotation_of,
    copy_of,
    dims_text,
    place_of,
)
from sdyopt.analysis.changes.effect import NOISE, Effect, Measure
from sdyopt.analysis.changes.originals import Gradients, Originals
from sdyopt.analysis.changes.outcome import place_of_collective
from sdyopt.analysis.changes.search import Search
from sdyopt.analysis.changes.trial import Trial
from sdyopt.analysis.changes.trials import Trials, trials_on
from sdyopt.analysis.explain.arrival_text import Sentence
from sdyopt.analysis.explain.names import ExplanationNames, axis_text
from sdyopt.analysis.figures.assumed_pipeline import completing_pipeline
from sdyopt.analysis.figures.causes import stated_results, with_stated_results
from sdyopt.analysis.figures.execution_counts import entry_functions
from sdyopt.analysis.figures.figures import Collective, Report
from sdyopt.analysis.figures.program_report import report_on
from sdyopt.analysis.figures.source_locations import Phase, source_location
from sdyopt.analysis.figures.topology import Topology
from sdyopt.analysis.figures.units import bytes_text
from sdyopt.analysis.report.check.checker import CheckResult, CostlyPlace, check_of
from sdyopt.analysis.sharding_record.absences import Absence, Obstacle
from sdyopt.analysis.sharding_record.arrivals import AnnotationKind, dimension_of
from sdyopt.analysis.sharding_record.model import PropagationRun, Site
from sdyopt.analysis.sharding_record.record import ShardingRecord
from sdyopt.analysis.sharding_record.sources import sources
from sdyopt.base.dataclasses import dataclass
from sdyopt.base.diagnostics.text import counted
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import find_mesh
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, MeshOrRef, TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import block_or_result, owning_op, rank_of
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.symbols import is_private
from sdyopt.mlir.ir.types import DYNAMIC, RankedShapedType, Type
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.shardy.record import FunctionResult, Subject

# For one axis, at most so many changes are tried; and for one question, on so many operations together.
_MAX_TRIALS = 8
_MAX_OPERATIONS = 100_000
# A check of so many places is looked at.
_PLACES = 20

# The effect of an edit, the record of what the passes made of the changed copy, and the copies of operations.
_Recorded = tuple[Effect, ShardingRecord, Mapping[Op, Op]]


class ExplainedChanges:
    """Advice on one program. The constructor copies it, before passes change it."""

    def __init__(self, module: Op, dialects: DialectTable) -> None:
        mapping: dict[Value, Value] = {}
        self._module = Rewriter().clone(module, mapping)
        self._copies = mapping
        self._originals = {copy: value for value, copy in mapping.items()}
        self._ops = dict(zip(module.walk(), self._module.walk(), strict=True))
        self._dialects = dialects
        # Passes are assumed, because none are given.
        self.is_assumed = False
        # The machine whose compiler and speeds changes are judged for.
        self.machine: Topology | None = None
        # What a device has, if that is given.
        self.memory: int | None = None
        # So many trials run at the same time, in forked processes.
        self.jobs = 1
        self._tried: dict[AnnotationEdit, _Recorded | None] = {}
        self._remaining = max(_MAX_TRIALS, _MAX_OPERATIONS // max(1, len(self._ops)))

    @cached_property
    def _gradients(self) -> Gradients:
        return Gradients(self._module)

    @cached_property
    def _search(self) -> Search:
        """The changes of the program that pay."""
        pipeline = completing_pipeline(self._module, not self.is_assumed, self.machine)
        trials = trials_on(self._module, pipeline, self.machine, is_inlined=self.is_assumed)
        return Search(trials, memory=self._memory, jobs=self.jobs)

    @property
    def _memory(self) -> int | None:
        """The bytes that a device has, by default those of the machine."""
        return self.memory if self.memory is not None or self.machine is None else self.machine.hbm_bytes

    @cached_property
    def _trials(self) -> Trials | None:
        """None if there is nothing to try: the program is partitioned, or its pipeline fails."""
        pipeline = completing_pipeline(self._module, not self.is_assumed, self.machine)
        trials = Trials(self._module, pipeline, self.machine)
        return trials if trials.can_try and trials.outcome is not None else None

    def add_to(
        self,
        node: Sentence,
        absence: Absence,
        record: ShardingRecord,
        run: PropagationRun,
        names: ExplanationNames,
    ) -> None:
        """Adds what to write so that the axis comes to the value, or that nothing was found."""
        if absence.obstacle is Obstacle.NO_DIMENSION or self._trials is None:
            return
        proposals = _Proposals(self, absence, record, run)
        if self._gets_it(self._unchanged, proposals, absence):
            # Other passes, or other options of them, have run.
            axis = axis_text(absence.axis)
            node.add(f"help: run -sdy-propagation-pipeline without options: tried, {axis} shards it")
            return
        tried = unwritable = unsharded = 0
        pairs: list[tuple[AnnotationEdit, Effect]] = []
        for edit in dict.fromkeys(proposals):
            if not self._gradients.constrained((edit,)):
                unwritable += 1
                continue
            if tried == _MAX_TRIALS or (edit not in self._tried and not self._remaining):
                break
            tried += 1
            effect = self._effect(edit, proposals, absence)
            if effect is not None and effect.is_worse and _shards_less(edit):
                unsharded += 1
            elif effect is not None:
                pairs.append((edit, effect))
        sure = [(edit, effect) for edit, effect in pairs if effect.is_worth_it()]
        # What no partitioner does otherwise comes first, of edits that make as many figures worse.
        best = min(sure, key=lambda item: (item[1].cost[0], not item[1].holds, item[1].cost), default=None)
        shared = self._shared(proposals, absence)
        if shared is not None and (best is None or _is_better(shared, best[1])):
            self._add_trial(node, shared, f"{axis_text(absence.axis)} shards it; ")
        elif best is not None:
            self._add(node, *best, absence, names)
        elif (other := self._written_at(proposals.place(absence.subject))) is not None:
            self._add_trial(node, other, "")
        elif unwritable and not tried:
            node.add("no help was found: JAX programs cannot constrain a value within a backward pass")
        elif not tried:
            node.add("no help was found: there was no sharding to try")
        else:
            count = "1 other sharding was" if tried == 1 else f"{tried} other shardings were"
            why = "XLA may turn the gain into a loss" if pairs else "without success"
            if unsharded and not pairs:
                why = "with which it does, and an argument or a result is sharded less, at a cost"
            node.add(f"no help was found: {count} tried, {why}")

    def _shared(self, proposals: _Proposals, absence: Absence) -> Trial | None:
        """The best change of the search of all analyses that writes the axis at the place of the value."""
        place = proposals.place(absence.subject)
        wanted = {(_identity(edit.subject), dims_text(edit.sharding)) for edit in proposals}
        for trial in self._search.ranked:
            for edit in trial.change.edits:
                subject = _identity(edit.subject)
                is_there = place is not None and subject == _identity(place) and _has(edit.sharding, absence)
                if not edit.is_removal and (is_there or (subject, dims_text(edit.sharding)) in wanted):
                    return trial
        return None

    def _written_at(self, place: Subject | None) -> Trial | None:
        """The best change of the search of all analyses that is written at a place."""
        identity = None if place is None else _identity(place)
        for trial in self._search.ranked:
            if any(_identity(edit.subject) == identity for edit in trial.change.edits):
                return trial
        return None

    # --- Collectives ------------------------------------------------------------------------------

    def add_for_collective(
        self,
        node: Sentence,
        figures: Collective,
    ) -> None:
        """Adds what to write so that the line of a collective sends less, or that nothing was found."""
        search, place = self._search, place_of_collective(figures)
        if not search.can_try or not search.sent_at(None, place):
            return
        if (trial := self._of_check(place[0]) or search.at_place(place)) is not None:
            self._add_trial(node, trial, "", place[0])
        else:
            self._add_untried(node, place[0])

    def _add_untried(self, node: Sentence, line: str, why: str = "") -> None:
        """Adds what a check says for a line without a trial, and why, or that nothing was found."""
        place, search = self._place_of_check(line), self._search
        untried, blocker = ("", "") if place is None else (place.untried, place.blocker)
        if untried:
            node.add(f"help: {untried}")
        if reasons := "; ".join(filter(None, (blocker, why))):
            node.add(f"why: {reasons}")
        if untried or not search.can_try:
            return
        more = ", others were not" if search.proposed > search.tried else ""
        count = f"{counted(search.tried, 'change')} {'was' if search.tried == 1 else 'were'} tried"
        node.add(f"no help was found: {count}{more}; the line sends as much, or the program takes longer")

    def add_for_line(self, node: Sentence, line: str, why: str) -> None:
        """Adds what to write so that a line sends less, as a check has it, and then why it sends that."""
        trial = self._of_check(line) or self._search.written_on(line) or self._search.at_line(line)
        if trial is not None:
            self._add_trial(node, trial, "", line)
            node.add(f"why: {why}")
        else:
            self._add_untried(node, line, why)

    def add_written_on(self, node: Sentence, line: str) -> bool:
        """Adds the best change of what a line states, if there is one."""
        if (trial := self._search.written_on(line)) is None:
            return False
        self._add_trial(node, trial, "")
        return True

    def _of_check(self, line: str) -> Trial | None:
        place = self._place_of_check(line)
        return None if place is None or place.key != line else place.best

    def _place_of_check(self, line: str) -> CostlyPlace | None:
        """The place of a check that has collectives of a line, maybe with those of other lines."""
        for place in [] if self._check is None else self._check.places:
            items = (item for part in place.parts for item in part.collectives)
            if place.key == line or any(place_of_collective(item)[0] == line for item in items):
                return place
        return None

    @cached_property
    def _check(self) -> CheckResult | None:
        """The check of the program; None if there is nothing to try."""
        search, outcome = self._search, self._search.trials.outcome if self._search.can_try else None
        return None if outcome is None else check_of(outcome.report, search, self._memory, most=_PLACES)

    def add_for_input(self, node: Sentence, value: BlockArgument) -> None:
        """Adds the best change of an argument of the program, if there is one."""
        if not self._search.can_try:
            return
        copy = self._copies.get(value)
        trial = self._written_at(None if copy is None else block_or_result(copy))
        if trial is not None:
            self._add_trial(node, trial, "")

    def _add_trial(self, node: Sentence, trial: Trial, what: str, line: str = "") -> None:
        """Adds what to write, and its effect on the program, as in a check, and on the line."""
        search = self._search
        trial = search.worded(trial)
        help = node.add(f"help: {trial.text or '; '.join(trial.texts)}")
        text = f"tried: {what}{trial.effect.text}"
        if line and trial.effect.saved(Measure.WIRE):
            before, after = (bytes_text(search.sent_at(item, line)) for item in (None, trial))
            text += f"; this line sends {after} in place of {before}"
        help.add(text)
        if not search.names.is_of_jax and (shown := search.names.sdy_text(trial.change)):
            help.add(f"in sdy: {shown}")

    # --- One axis of a value ----------------------------------------------------------------------

    def _effect(self, edit: AnnotationEdit, proposals: _Proposals, absence: Absence) -> Effect | None:
        """The effect of an edit; None if the value does not have the axis then."""
        if edit not in self._tried:
            self._remaining -= 1
            self._tried[edit] = self._try(Change(self._gradients.constrained((edit,))))
        recorded = self._tried[edit]
        return recorded[0] if recorded is not None and self._gets_it(recorded, proposals, absence) else None

    def _gets_it(self, recorded: _Recorded | None, proposals: _Proposals, absence: Absence) -> bool:
        """Whether the value has the axis after a trial."""
        subject = proposals.place(absence.subject)
        if recorded is None or subject is None:
            return False
        _, record, copies = recorded
        return any(_has(sharding, absence) for sharding in _shardings(record, copy_of(subject, copies)))

    @cached_property
    def _unchanged(self) -> _Recorded | None:
        """The trial of no change."""
        return self._try(Change())

    def _try(self, change: Change) -> _Recorded | None:
        assert self._trials is not None and self._trials.figures is not None
        copies: dict[Op, Op] = {}
        record = ShardingRecord()
        with record.active():
            after = self._trials.partitioned(change, copies)
        return None if after is None else (Effect(self._trials.figures, after.figures), record, copies)

    def _add(
        self, node: Sentence, edit: AnnotationEdit, effect: Effect, absence: Absence, names: ExplanationNames
    ) -> None:
        written = self._gradients.constrained((edit,))
        # A statement of the forward pass constrains the gradient, too.
        edit = next((edit for edit in written if not _is_gradient(edit)), written[0])
        name = self._name_of(edit, names)
        if edit.how:
            name = f"the gradient from {name}"
        word = "possible, at a cost" if effect.is_worse else "help"
        also = ", which constrains its gradient, too" if len(written) == 2 else ""
        help = node.add(f"{word}: {edit.text(name)}{also}", self._source_line(edit.subject, names))
        has_figures = self._has_figures(edit.subject)
        figures = effect.text if has_figures else "no figures, because @main does not run this function"
        help.add(f"tried: {axis_text(absence.axis)} shards it; {figures}")
        help.add(f"in sdy: {edit.sdy(self._name_of(edit, names.describing(False)))}")

    def _name_of(self, edit: AnnotationEdit, names: ExplanationNames) -> str:
        named = edit.named
        return "" if isinstance(named, FunctionResult) else names.value(self._original_of(named))

    def _has_figures(self, subject: Subject) -> bool:
        """Whether figures of the program include what a subject is in."""
        op = subject.function if isinstance(subject, FunctionResult) else owning_op(subject)
        function = op if isinstance(op, FuncOp) else op.parent_of_type(FuncOp)
        functions = [op for op in self._module.walk() if isinstance(op, FuncOp)]
        return function is None or is_private(function) or function in entry_functions(functions)

    def _source_line(self, subject: Subject, names: ExplanationNames) -> str:
        if isinstance(subject, FunctionResult):
            return names.source_line(subject.function)
        return names.source_line_of_value(self._original_of(subject))

    def _original_of(self, copy: Value) -> OpResult | BlockArgument:
        original = self._originals[copy]
        assert isinstance(original, OpResult | BlockArgument)
        return original

    def report_on(self, module: Op) -> Report:
        """The report on the program after the passes."""
        return with_stated_results(report_on(module, self.machine), stated_results(self._module))

    def annotation(self, result: FunctionResult) -> TensorSharding | None:
        """The sharding of a result that the program states."""
        function = self._ops.get(result.function)
        if not isinstance(function, FuncOp):
            return None
        return annotation_of(FunctionResult(function, result.result_index))

    # --- What is changed --------------------------------------------------------------------------

    def subject(self, subject: Subject, record: ShardingRecord, run: PropagationRun) -> Subject | None:
        """A subject in the copy of the program; None if a pass created it."""
        if isinstance(subject, FunctionResult):
            function = self._ops.get(subject.function)
            if not isinstance(function, FuncOp) or is_private(function):
                return None
            return FunctionResult(function, subject.result_index)
        owner = run.edge_owners.get(subject, subject)
        return Originals(self._module, record.values, self._copies).value(owner)

    def mesh(self, mesh_or_ref: MeshOrRef) -> Mesh | None:
        """The mesh of a sharding, as the program defines it before the passes."""
        return find_mesh(mesh_or_ref, self._module)


def _is_better(trial: Trial, effect: Effect) -> bool:
    """Whether a change that pays is better than another one with such an effect."""
    least = NOISE * effect.after.at_most(True)
    return (effect.is_worse and not trial.effect.is_worse) or (
        trial.after.at_most(True) < effect.after.at_most(True) - least
    )


def _identity(subject: Subject) -> object:
    """What a subject has in common with itself in a copy of the program whose calls may be inlined."""
    if isinstance(subject, FunctionResult):
        return subject.function.sym_name, subject.result_index
    op = owning_op(subject)
    at = op.sym_name if isinstance(op, FuncOp) else op.location
    return type(subject), op.signature.name, at, subject.index, subject.type


def _shards_less(edit: AnnotationEdit) -> bool:
    """Whether an argument or a result of the program is sharded along fewer devices after an edit."""
    before = annotation_of(edit.subject) if edit.is_boundary else None
    if before is None:
        return False
    sizes = [[dim.sharded_size(edit.mesh) for dim in sharding.dims] for sharding in (before, edit.sharding)]
    return prod(sizes[1]) < prod(sizes[0])


def _is_gradient(edit: AnnotationEdit) -> bool:
    subject = edit.subject
    return isinstance(subject, OpResult) and source_location(subject.location).phase is Phase.BACKWARD


def _shardings(record: ShardingRecord, subject: Subject) -> Iterator[TensorSharding | None]:
    """The shardings that a subject of a changed copy has after propagation, and those of its copies."""
    if isinstance(subject, FunctionResult):
        yield from (run.final.get(subject) for run in record.runs[-1:])
        return
    for run in reversed(record.runs):
        values = record.values.descendants(subject)
        result = [run.subject_of.get(value) or run.subject_of_owner.get(value) for value in values]
        if subjects := [value for value in result if value is not None]:
            yield from (run.final.get(subject) for subject in subjects)
            return


def _has(sharding: TensorSharding | None, absence: Absence) -> bool:
    dim = dimension_of(sharding, absence.axis)
    return dim >= 0 and absence.dim in (dim, -1)


# --- Proposals --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Proposals:
    """The changes that may give the axis of an absence to its value, the most direct ones first."""

    advice: ExplainedChanges
    absence: Absence
    record: ShardingRecord
    run: PropagationRun

    def __iter__(self) -> Iterator[AnnotationEdit]:
        absence = self.absence
        dim = absence.dim
        if dim < 0 and _rank(absence.subject) == _rank(absence.neighbor):
            dim = absence.neighbor_dim
        if dim >= 0:
            yield from self._with_axis(absence.subject, dim, absence.axis)
        if not isinstance(absence.site, Site):
            return
        for refusal in absence.refusals:
            culprit = None if refusal.culprit is None else absence.site.subjects[refusal.culprit]
            if culprit is None or refusal.culprit is None:
                continue
            mapping = absence.site.tensors[refusal.culprit]
            dims = [number for number, item in enumerate(mapping.dims) if refusal.factor in item.factors]
            if culprit != absence.subject and dims:
                yield from self._with_axis(culprit, dims[0], absence.axis)
            for axis in refusal.conflicting:
                yield from self._without_axis(culprit, axis)

    def _with_axis(self, subject: Subject, dim: int, axis: AxisRef) -> Iterator[AnnotationEdit]:
        """A subject with an axis in a dimension: after those that it has, or like the neighbor."""
        neighbor = self.run.final.get(self.absence.neighbor)
        if neighbor is None:
            return
        current = self.run.final.get(subject)
        names = _axis_names(current, _rank(subject), axis.name)
        yield from self._change(
            subject, [*names[:dim], [*names[dim], axis.name], *names[dim + 1 :]], neighbor
        )
        like = [axis.name for axis in neighbor.dims[self.absence.neighbor_dim].axes]
        kept = [[name for name in names_of if name not in like] for names_of in names]
        yield from self._change(subject, [*kept[:dim], list(dict.fromkeys(like)), *kept[dim + 1 :]], neighbor)

    def _without_axis(self, culprit: Subject, axis: AxisRef) -> Iterator[AnnotationEdit]:
        """The annotations that give the culprit an axis, without it or with another one in its place."""
        if dimension_of(self.run.final.get(culprit), axis) < 0:
            return
        result = [
            source
            for source in sources(self.record, self.run, culprit, axis)
            if source.annotation.kind
            in (AnnotationKind.INPUT, AnnotationKind.OUTPUT, AnnotationKind.CONSTRAINT)
        ]
        for source in result[:1]:
            annotated = self.run.initial.get(source.subject) or self.run.final.get(source.subject)
            dim = dimension_of(annotated, axis)
            mesh = None if annotated is None else self.advice.mesh(annotated.mesh_or_ref)
            if annotated is None or mesh is None or dim < 0:
                continue
            names = _axis_names(annotated, len(annotated.dims), axis.name)
            used = {name for texts in names for name in texts} | {axis.name}
            others = [axis.name for axis in mesh.axes if axis.size > 1 and axis.name not in used]
            for replaced in ([], *([other] for other in others)):
                dims = [*names[:dim], [*names[dim], *replaced], *names[dim + 1 :]]
                yield from self._change(source.subject, dims, annotated)

    def _change(
        self, subject: Subject, dims: Sequence[Sequence[str]], like: TensorSharding
    ) -> Iterator[AnnotationEdit]:
        """The change to these axes for each dimension, if it is one, on the mesh of another sharding."""
        mesh, place = self.advice.mesh(like.mesh_or_ref), self.place(subject)
        current = self.run.final.get(subject)
        if mesh is None or place is None or (current is not None and current.unreduced_axes):
            return
        if not all(mesh.has_axis(name) for names in dims for name in names):
            return
        written = [DimensionSharding(tuple([AxisRef(name) for name in names])) for names in dims]
        edit = AnnotationEdit(place, TensorSharding(like.mesh_or_ref, tuple(written)), mesh)
        if not edit.is_boundary or _divides(place.type, written, mesh):
            yield edit

    def place(self, subject: Subject) -> Subject | None:
        """The place of the sharding of a subject: an annotation that it has, or itself."""
        value = self.advice.subject(subject, self.record, self.run)
        return None if value is None else place_of(value)


def _axis_names(sharding: TensorSharding | None, rank: int, left_out: str) -> list[list[str]]:
    """The full axes of each dimension, without one of them."""
    if sharding is None:
        return [[] for _ in range(rank)]
    return [
        [axis.name for axis in dim.axes if axis.sub_axis is None and axis.name != left_out]
        for dim in sharding.dims
    ]


def _rank(subject: Subject) -> int:
    return rank_of(subject.type)


def _divides(type: Type, dims: Sequence[DimensionSharding], mesh: Mesh) -> bool:
    """Whether axes divide the dimensions of a type, as JAX requires of arguments and results."""
    if not isinstance(type, RankedShapedType):
        return False
    return all(
        size == DYNAMIC or size % dim.sharded_size(mesh) == 0
        for size, dim in zip(type.shape, dims, strict=True)
    )
