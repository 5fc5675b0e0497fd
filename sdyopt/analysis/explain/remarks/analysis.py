"""The remarks on the programs of a run, from the sharding record, emitted or written to a file.

Passed: an axis that propagated. Missed: an axis that a neighbor has and a value lacks, with the reason.
Failed: the same, at an operation without a sharding rule. Analysis: the annotations that propagation starts
with, and the reshards and all-reduces that are inserted.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager

from sdyopt.analysis.explain.absence_text import neighbors_text, reasons_of
from sdyopt.analysis.explain.arrival_text import annotation_text, dimension_of_factor, direction, site_text
from sdyopt.analysis.explain.names import ExplanationNames, axis_text, function_of, recorded, sharding_text
from sdyopt.analysis.explain.remarks import Options
from sdyopt.analysis.explain.remarks.remark import (
    ANNOTATION,
    PROPAGATION,
    RESHARD,
    Remark,
    RemarkFilter,
    RemarkKind,
    remark_text,
    remark_yaml,
)
from sdyopt.analysis.interface import Analysis, Program, Run
from sdyopt.analysis.sharding_record.absences import Absence, Obstacle, absences
from sdyopt.analysis.sharding_record.arrivals import Arrival, annotation_on, axes_added
from sdyopt.analysis.sharding_record.model import PropagationRun, Restored, Step
from sdyopt.analysis.sharding_record.record import ShardingRecord
from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity, emit
from sdyopt.base.diagnostics.ids import REMARK
from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp
from sdyopt.mlir.dialects.sdy.value_shardings import block_or_result
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import OpResult, Value
from sdyopt.shardy.record import InsertedReshard, Required, Subject


class Remarking(Analysis[Options]):
    """The remarks of one run."""

    def __init__(self, options: Options, run: Run) -> None:
        super().__init__(options, run)
        self._selected = RemarkFilter(options.filters)
        self._yaml = ""
        self._written: list[str] = []

    def on_input(self, program: Program) -> None:
        program.shared(recorded)

    def around_passes(self, program: Program) -> AbstractContextManager[None]:
        return program.shared(recorded).recording()

    def on_result(self, program: Program) -> None:
        """Emits the remarks, or keeps them for the file."""
        of = program.shared(recorded)
        is_final = self.options.remark_policy == "final"
        remarks = RecordRemarks(of.record, of.names, self._selected, is_final)
        if self.options.path:
            self._yaml = "".join(map(remark_yaml, remarks))
            return
        for remark in remarks:
            text = remark_text(remark)
            emit(Diagnostic(Severity.REMARK, remark.location, text, id=f"{REMARK}/{remark.name}"))

    def on_output(self, program: Program) -> None:
        """Adds the remarks to the file, because nothing has failed since."""
        self._written.append(self._yaml)

    def on_end(self) -> None:
        if self.options.path:
            self.run.write_file(self.options.path, "".join(self._written))


class RecordRemarks:
    """The remarks of a record that a filter selects, in the order of the decisions.

    If `is_final`, those of the last run of propagation only.
    """

    def __init__(
        self, record: ShardingRecord, names: ExplanationNames, selected: RemarkFilter, is_final: bool = False
    ) -> None:
        self._record = record
        self._names = names
        self._selected = selected
        self._runs = record.runs[-1:] if is_final else record.runs

    def __iter__(self) -> Iterator[Remark]:
        for run in self._runs:
            if self._shows(RemarkKind.ANALYSIS, ANNOTATION):
                yield from self._annotations(run)
            if self._shows(RemarkKind.PASSED, PROPAGATION):
                yield from self._arrivals(run)
            if self._shows(RemarkKind.MISSED, PROPAGATION) or self._shows(RemarkKind.FAILED, PROPAGATION):
                yield from (remark for _, remark in self._absences(run))
        if self._shows(RemarkKind.ANALYSIS, RESHARD):
            yield from self._reshards()

    def _shows(self, kind: RemarkKind, category: str) -> bool:
        return self._selected.shows(kind, category)

    def absences(self) -> Iterator[tuple[Op, Remark]]:
        """The remarks on axes that did not propagate, each with its operation."""
        for run in self._runs:
            yield from self._absences(run)

    # --- Annotations ------------------------------------------------------------------------------

    def _annotations(self, run: PropagationRun) -> Iterator[Remark]:
        for subject, sharding in run.initial.items():
            if sharding is not None and any(dim.axes for dim in sharding.dims):
                yield self._annotation(run, subject, sharding_text(sharding), 0)
        for change in run.changes:
            if isinstance(change.cause, Restored):
                text = sharding_text(change.after)
                yield self._annotation(run, change.subject, text, change.cause.priority)

    def _annotation(self, run: PropagationRun, subject: Subject, sharding: str, priority: int) -> Remark:
        annotation = annotation_on(self._record, run, subject, priority)
        names = self._names.within(run, subject)
        value, source = names.subject(run, subject), annotation_text(annotation, names)
        arguments = (
            ("Remark", f"{value} starts with {sharding}"),
            ("Value", value),
            ("Sharding", sharding),
            ("From", source),
            ("Priority", str(priority)),
        )
        function = self._names.function_of(run, subject)
        return Remark(
            RemarkKind.ANALYSIS, ANNOTATION, "annotation", function, annotation.op.location, arguments
        )

    # --- Axes that propagated ---------------------------------------------------------------------

    def _arrivals(self, run: PropagationRun) -> Iterator[Remark]:
        for change in run.changes:
            if isinstance(change.cause, Step):
                for arrival in axes_added(run, change):
                    yield self._arrival(run, change.subject, arrival, change.cause)

    def _arrival(self, run: PropagationRun, subject: Subject, arrival: Arrival, step: Step) -> Remark:
        names = self._names.within(run, subject)
        source = step.site.subjects[arrival.source_position]
        assert source is not None, "an axis comes from a sharding"
        value, origin = names.subject(run, subject), names.subject(run, source)
        axis = axis_text(arrival.axis)
        source_dim = dimension_of_factor(step, arrival.source_position, arrival.factor)
        way = direction(step.site, arrival.source_position, arrival.position)
        member = arrival.group_member
        group = () if member is None else (("Group member", names.subject(run, member)),)
        sentence = (
            f"{axis} shards dimension {arrival.dim} of {value}: from dimension {source_dim} of {origin}, "
            f"{way} along {site_text(run, step.site)}"
        )
        arguments = (
            ("Remark", sentence),
            ("Value", value),
            ("Dimension", str(arrival.dim)),
            ("Axis", axis),
            ("FromValue", origin),
            ("FromDimension", str(source_dim)),
            *group,
            ("Operation", step.site.op_name),
            ("Factor", str(arrival.factor)),
            ("Direction", way),
            ("Strategy", step.strategy.value),
            ("Priority", str(step.priority)),
            ("Round", str(step.round)),
        )
        function = self._names.function_of(run, subject)
        return Remark(
            RemarkKind.PASSED, PROPAGATION, "axis-propagated", function, step.site.op.location, arguments
        )

    # --- Axes that did not ------------------------------------------------------------------------

    def _absences(self, run: PropagationRun) -> Iterator[tuple[Op, Remark]]:
        for subject in list(run.final):
            names = self._names.within(run, subject)
            groups: dict[tuple[str, int, object], list[Absence]] = {}
            for absence in absences(run, subject):
                if absence.obstacle is Obstacle.NO_DIMENSION or not self._shows(_kind(absence), PROPAGATION):
                    continue
                reasons = reasons_of(absence, self._record, run, names)
                groups.setdefault((axis_text(absence.axis), absence.dim, reasons), []).append(absence)
            for group in groups.values():
                yield group[0].site.op, self._absence(run, names, group)

    def _absence(self, run: PropagationRun, names: ExplanationNames, result: list[Absence]) -> Remark:
        first = result[0]
        value, axis = names.subject(run, first.subject), axis_text(first.axis)
        reasons = reasons_of(first, self._record, run, names)
        where = f"dimension {first.dim}" if first.dim >= 0 else "any dimension"
        neighbors = neighbors_text(result, run, names)
        arguments = (
            ("Remark", f"{axis} does not shard {where} of {value}, though it shards {neighbors}"),
            ("Reason", "; ".join(reasons)),
            ("Value", value),
            *([("Dimension", str(first.dim))] if first.dim >= 0 else []),
            ("Axis", axis),
            ("FromValue", names.subject(run, first.neighbor)),
            ("FromDimension", str(first.neighbor_dim)),
            ("Operation", first.site.op_name),
        )
        kind = _kind(first)
        name = "no-sharding-rule" if kind is RemarkKind.FAILED else "axis-not-propagated"
        function = self._names.function_of(run, first.subject)
        return Remark(kind, PROPAGATION, name, function, first.site.op.location, arguments)

    # --- Reshards ---------------------------------------------------------------------------------

    def _reshards(self) -> Iterator[Remark]:
        for result, cause in self._record.reshards.items():
            op, position, value = _required_by(cause)
            function, inserted = function_of(op), block_or_result(result)
            assert isinstance(inserted, OpResult)
            names = self._names.in_function(function)
            shown, kind = names.value(block_or_result(value)), inserted.op.signature.name
            is_partial = isinstance(inserted.op, AllReduceOp)
            why = "is a partial result" if is_partial else "needs another sharding"
            arguments = (
                ("Remark", f"{kind} of {shown}: {position} of {op.signature.name} {why}"),
                ("Value", shown),
                ("Inserted", kind),
                ("Operation", op.signature.name),
                ("Position", position),
            )
            yield Remark(RemarkKind.ANALYSIS, RESHARD, "reshard-inserted", function, op.location, arguments)


def _kind(absence: Absence) -> RemarkKind:
    return RemarkKind.FAILED if absence.obstacle is Obstacle.NO_RULE else RemarkKind.MISSED


def _required_by(cause: InsertedReshard | Required) -> tuple[Op, str, Value]:
    """The operation that a reshard was inserted for, which operand or result it is, and its value."""
    if isinstance(cause, Required):
        return cause.user, f"operand {cause.index}", cause.user.operand_at(cause.index)
    count = len(cause.plan.rule.operands)
    is_operand = cause.position < count
    position = f"operand {cause.position}" if is_operand else f"result {cause.position - count}"
    return cause.plan.op, position, cause.plan.values[cause.position]
