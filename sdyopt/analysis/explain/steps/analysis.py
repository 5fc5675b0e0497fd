"""The page of the steps of propagation, and its data: source lines, values, sites, tables and steps."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import htpy as h

from sdyopt.analysis.explain.arrival_text import site_text
from sdyopt.analysis.explain.names import (
    ExplanationNames,
    InputNames,
    RecordedProgram,
    recorded,
    sharding_text,
)
from sdyopt.analysis.explain.remarks.analysis import RecordRemarks
from sdyopt.analysis.explain.remarks.remark import RemarkFilter
from sdyopt.analysis.explain.steps import Options
from sdyopt.analysis.figures.source_locations import UserLines, source_location
from sdyopt.analysis.interface import Analysis, Program, Run
from sdyopt.analysis.interface.pages.page import MAX_LINES, Page, program_lines
from sdyopt.analysis.sharding_record.model import Cause, PropagationRun, RecordedChange, Site, Step
from sdyopt.analysis.sharding_record.record import ShardingRecord
from sdyopt.base.dataclasses import asdict, dataclass, field
from sdyopt.base.diagnostics.text import replace_unprintable
from sdyopt.base.diagnostics.whole_files import source_files
from sdyopt.mlir.asm.lexical import location_extent
from sdyopt.mlir.dialects.sdy.axes import AxisRef, axis_refs_text
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule, factor_symbol
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import block_or_result
from sdyopt.mlir.ir.operation import Op
from sdyopt.shardy.record import FunctionResult, Subject
from sdyopt.shardy.sharding.axis_lists import axes_after
from sdyopt.shardy.sharding.propagation.step_input import Reason, Refusal
from sdyopt.shardy.sharding.sharding_projection import FactorSharding, TensorProjection


class Stepping(Analysis[Options]):
    """The page of one run."""

    def __init__(self, options: Options, run: Run) -> None:
        super().__init__(options, run)
        help = "write the steps of each chunk in a file of its own"
        run.check_is_one_chunk(f"--explain-steps={options.explain_steps} is one file", help)

    def on_input(self, program: Program) -> None:
        program.shared(recorded)

    def around_passes(self, program: Program) -> AbstractContextManager[None]:
        return program.shared(recorded).recording()

    def on_result(self, program: Program) -> None:
        """Writes the page. Raises DiagnosticError if nothing was propagated."""
        path = self.options.explain_steps
        if path is not None and program.shared(recorded).is_recorded:
            self.run.write_file(path, steps_page(program.shared(recorded)))


# The page of the steps: one HTML file that needs no network. `steps.js` shows a step.


_FOLDER = Path(__file__).parent
_HELP = "← and → step, Page Up and Page Down step by 10, Home and End; click a line for its next step"


def steps_page(program: RecordedProgram) -> str:
    """The page on a program, whose source is shown. Raises DiagnosticError if the record has no steps."""
    program.check_is_propagated()
    data, source = step_data(program), program.inputs.source
    lines = _lines(source.text, program.inputs.record.locations)
    page = Page(f"{source.name}: steps of propagation", data.axes)
    page.add_data("steps", asdict(data))
    page.add_text("text-of-program", "\n".join(program_lines("\n".join(lines))))
    body = [
        h.header[
            h.h1[replace_unprintable(page.title)],
            (h.p(".limit")[sentence] for sentence in _limits(data, len(lines))),
            h.div(".controls")[
                h.button("#back", type="button", aria_label="one step back", title="one step back (←)")["◀"],
                h.input(
                    "#slider", type="range", min="0", max=str(len(data.steps)), value="0", aria_label="step"
                ),
                h.button("#next", type="button", aria_label="one step on", title="one step on (→)")["▶"],
                h.input(
                    "#search",
                    type="search",
                    placeholder="search",
                    aria_label="search steps",
                    autocomplete="off",
                ),
            ],
            h.div("#found", hidden=True),
            h.p("#title", aria_live="polite"),
            h.p("#place"),
            h.p(".note")[_HELP],
        ],
        h.main("#main", tabindex="-1")[
            h.section("#step", tabindex="0", aria_label="step"), h.section("#text")
        ],
        h.noscript[h.p["The page needs JavaScript."]],
    ]
    return page.html(body, [_FOLDER / "steps.js"], [_FOLDER / "steps.css"])


def _limits(data: StepData, lines: int) -> Iterator[str]:
    """Sentences on what the file leaves out."""
    if data.count > len(data.steps):
        yield f"The file has the first {MAX_STEPS:,} of {data.count:,} steps."
    if data.missed_count > len(data.missed):
        yield f"The end lists the first {MAX_MISSED:,} of {data.missed_count:,} axes that did not propagate."
    if lines > MAX_LINES:
        yield f"The file has the first {MAX_LINES:,} of {lines:,} lines of the program."


def _lines(text: str, locations: Iterable[int]) -> list[str]:
    """The lines of the source, without the locations of operations. Definitions of locations are empty."""
    parts, position = [], 0
    for start in sorted(locations):
        end = location_extent(text, start)
        parts += [text[position:start], re.sub(r"[^\r\n]", " ", text[start:end])]
        position = end
    text = "".join([*parts, text[position:]])
    lines = ["" if line.startswith("#loc") else line.rstrip() for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


# Of more steps, and more axes that did not propagate, only the first are in the file.
MAX_STEPS = 50_000
MAX_MISSED = 500

# (value, sharding before, sharding after): numbers in `values` and `shardings`; -1 for no sharding.
Changed = tuple[int, int, int]


class Numbering:
    """Numbers equal items in the order in which they are first used."""

    def __init__(self) -> None:
        self.items: list[object] = []
        self._numbers: dict[Hashable, int] = {}

    def number(self, key: Hashable, item: object) -> int:
        """The number of the item with this key, which is added if it is new."""
        number = self._numbers.setdefault(key, len(self.items))
        if number == len(self.items):
            self.items.append(item)
        return number


@dataclass
class StepData:
    """The data of the page.

    `values` are [name, line], `sites` [line, function, operation, values, file, line of it], and `steps`
    [site, phase, table, changes]; site and table are -1 for a step that starts a run or restores dimension
    shardings. `missed` are [line, function, sentence, reason, help]. Lines are counted from 1; 0 is no line.
    `code` has the lines of files that are found, by file and line. `count` and `missed_count` are the numbers
    of steps and of axes that did not propagate; `steps` and `missed` have the first of them.
    """

    axes: list[str] = field(default_factory=list)
    shardings: list[object] = field(default_factory=list)
    values: list[object] = field(default_factory=list)
    sites: list[object] = field(default_factory=list)
    phases: list[object] = field(default_factory=list)
    tables: list[object] = field(default_factory=list)
    steps: list[object] = field(default_factory=list)
    missed: list[object] = field(default_factory=list)
    code: dict[str, dict[int, str]] = field(default_factory=dict)
    count: int = 0
    missed_count: int = 0


def step_data(program: RecordedProgram) -> StepData:
    """The data of all runs of a record."""
    return _Builder(
        program.record, program.inputs, program.names, UserLines.of_module(program.module)
    ).build()


class _Builder:
    def __init__(
        self, record: ShardingRecord, inputs: InputNames, names: ExplanationNames, lines: UserLines
    ) -> None:
        self._record = record
        self._inputs = inputs
        self._names = names
        self._lines = lines
        # The lines of files that sites are at.
        self._places: dict[str, dict[int, None]] = {}
        self._shardings, self._values, self._sites = Numbering(), Numbering(), Numbering()
        self._phases, self._tables = Numbering(), Numbering()
        self._axes: dict[str, None] = {}
        # The sharding that each value is shown with.
        self._current: dict[int, int] = {}

    def build(self) -> StepData:
        data = StepData()
        runs = self._record.runs
        for number, run in enumerate(runs, 1):
            run_text = f"propagation pass {number} of {len(runs)}: " if len(runs) > 1 else ""
            for step in self._steps_of(run, run_text, len(data.steps) < MAX_STEPS):
                data.count += 1
                if len(data.steps) < MAX_STEPS:
                    data.steps.append(step)
        self._add_missed(data)
        data.axes = list(self._axes)
        data.shardings, data.values, data.sites = self._shardings.items, self._values.items, self._sites.items
        data.phases, data.tables = self._phases.items, self._tables.items
        for name, text in source_files(self._places, self._inputs.source.name, None).items():
            lines = dict(enumerate(text.split("\n"), 1))
            names_of_lines = {
                line: replace_unprintable(lines[line].strip()) for line in self._places[name] if line in lines
            }
            data.code[replace_unprintable(name)] = names_of_lines
        return data

    def _steps_of(self, run: PropagationRun, run_text: str, has_room: bool) -> Iterator[object]:
        for sharding in run.initial.values():
            self._note_axes(run, sharding)
        start = [
            changed
            for subject, sharding in run.initial.items()
            for changed in self._changed(run, subject, sharding)
        ]
        yield [-1, self._phase(f"{run_text}annotations"), -1, start]
        # Steps for which there is no room are only counted.
        room = MAX_STEPS if has_room else 0
        for cause, changes in run.changes_of.items():
            if all(_axes_of(change.before) == _axes_of(change.after) for change in changes):
                continue
            room -= 1
            yield self._step(run, run_text, cause, changes) if room > 0 else []

    def _step(
        self, run: PropagationRun, run_text: str, cause: Cause, changes: list[RecordedChange]
    ) -> object:
        changed = [row for change in changes for row in self._changed(run, change.subject, change.after)]
        if not isinstance(cause, Step):
            text = f"{run_text}user priority p{cause.priority}: its dimension shardings are restored"
            return [-1, self._phase(text), -1, changed]
        parts = [f"user priority p{cause.priority}"] if cause.priority else []
        parts += [f"round {cause.round}"] if cause.round else []
        phase = self._phase(run_text + ", ".join([*parts, f"{cause.strategy.value} strategy"]))
        return [self._site(run, cause.site), phase, self._table(cause), changed]

    def _phase(self, text: str) -> int:
        return self._phases.number(text, text)

    def _table(self, step: Step) -> int:
        key = step.runner, step.site.rule, step.shardings
        known = self._tables.number(key, None)
        if self._tables.items[known] is None:
            self._tables.items[known] = factor_table(step).table_data()
        return known

    def _site(self, run: PropagationRun, site: Site) -> int:
        values = [-1 if subject is None else self._value(run, subject) for subject in site.subjects]
        first = next((subject for subject in reversed(site.subjects) if subject is not None), None)
        function = "" if first is None else self._names.function_of(run, first)
        line = self._line_of_op(site.op)
        if not line and first is not None:
            line = self._line_of(run, first)
        location = self._lines.chosen(source_location(site.op.location))
        self._places.setdefault(location.file, {})[location.line] = None
        place = [replace_unprintable(location.file), location.line]
        return self._sites.number(
            site,
            [line, replace_unprintable(function), replace_unprintable(site_text(run, site)), values, *place],
        )

    def _changed(
        self, run: PropagationRun, subject: Subject, sharding: TensorSharding | None
    ) -> Iterator[Changed]:
        """The change of a value to a sharding, if it is shown with another one."""
        after = self._sharding(sharding)
        if after < 0 and subject not in run.history:
            return
        value = self._value(run, subject)
        before = self._current.get(value, -1)
        if before != after:
            self._current[value] = after
            yield value, before, after

    def _sharding(self, sharding: TensorSharding | None) -> int:
        if sharding is None or not any(sharding.axis_refs):
            return -1
        text = replace_unprintable(sharding_text(sharding))
        return self._shardings.number(text, text)

    def _value(self, run: PropagationRun, subject: Subject) -> int:
        key: Hashable = subject
        if not isinstance(subject, FunctionResult):
            owner = block_or_result(run.edge_owners.get(subject, subject))
            key = self._names.input_name(owner) or subject
        function = self._names.function_of(run, subject)
        name = self._names.in_function(function).subject(run, subject)
        return self._values.number(key, [replace_unprintable(name), self._line_of(run, subject)])

    # --- Lines ------------------------------------------------------------------------------------

    def _line_of(self, run: PropagationRun, subject: Subject) -> int:
        if isinstance(subject, FunctionResult):
            function = subject.function
            terminator = None if function.is_declaration else function.entry.last
            return self._line_of_op(function) if terminator is None else self._line_of_op(terminator)
        input_name = self._names.input_name(block_or_result(run.edge_owners.get(subject, subject)))
        return 0 if input_name is None else self._inputs.source.line_column(input_name.offset)[0]

    def _line_of_op(self, op: Op) -> int:
        offset = self._inputs.offset_of_op.get(op)
        return 0 if offset is None else self._inputs.source.line_column(offset)[0]

    # --- The end ----------------------------------------------------------------------------------

    def _add_missed(self, data: StepData) -> None:
        filters = {"remarks-filter-missed": "propagation", "remarks-filter-failed": "propagation"}
        remarks = RecordRemarks(self._record, self._names, RemarkFilter(filters), is_final=True)
        for op, remark in remarks.absences():
            data.missed_count += 1
            if len(data.missed) < MAX_MISSED:
                arguments = dict(remark.arguments)
                line_and_function = [self._line_of_op(op), replace_unprintable(remark.function)]
                texts = (arguments.get(name, "") for name in ("Remark", "Reason"))
                data.missed.append([*line_and_function, *map(replace_unprintable, texts)])

    def _note_axes(self, run: PropagationRun, sharding: TensorSharding | None) -> None:
        mesh = None if sharding is None else run.mesh_of(sharding.mesh_or_ref)
        for axis in () if mesh is None else mesh.axes:
            self._axes.setdefault(replace_unprintable(axis.name))


def _axes_of(sharding: TensorSharding | None) -> list[str]:
    dims = () if sharding is None else sharding.dims
    texts = [axis_refs_text(dim.axes) for dim in dims]
    return texts if any(texts) else []


# The table of a step: the axes of each factor in each operand and result, and what does not propagate.
#
# Tables name no value, so steps with one rule and the same shardings share a table. A reason refers to an
# operand or result by its position between two delimiters.


# Around the position of an operand or result. They are not printable, so no other text has them.
BEFORE, AFTER = "\ue000", "\ue001"

# (axes before the step, axes that it adds, whether the dimension is closed); None without the factor.
Cell = tuple[str, str, bool] | None

_SPECIAL = ("reduction", "need_replication", "permutation", "blocked_propagation")


@dataclass(frozen=True)
class FactorTable:
    """`factors` are the columns: symbol, size and kind. `rows` are the operands, then the results.

    A row has the dimensions as factors, such as `[i, jk]`, and one cell for each factor.
    """

    factors: tuple[tuple[str, int, str], ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    reasons: tuple[str, ...]

    def table_data(self) -> object:
        return [self.factors, self.rows, self.reasons]


def factor_table(step: Step) -> FactorTable:
    """The table of a step."""
    rule = step.site.rule
    refusals = step.refusals
    result = refusals.result
    assert result is not None, "a step with updates runs"
    factors = tuple(
        (factor_symbol(factor), size, _kind(rule, factor)) for factor, size in enumerate(rule.factor_sizes)
    )
    rows = []
    for mapping, before, after in zip(rule.tensors, result.before, result.after, strict=True):
        dims = ", ".join("".join(map(factor_symbol, dim.factors)) for dim in mapping.dims)
        cells = tuple(_cell(before, after, factor) for factor in range(len(factors)))
        rows.append((f"[{dims}]", cells))
    reasons = dict.fromkeys(
        text for refusal in refusals.refusals for text in _reason(rule, refusal, result.after) if text
    )
    return FactorTable(factors, tuple(rows), tuple(reasons))


def _kind(rule: OpShardingRule, factor: int) -> str:
    names = (name for name in _SPECIAL if factor in getattr(rule, name))
    return next(names, "pass_through").replace("_", "-")


def _cell(before: TensorProjection, after: TensorProjection, factor: int) -> Cell:
    old, new = before.factors.get(factor), after.factors.get(factor)
    if old is None or new is None:
        return None
    added = axes_after(old.axes, new.axes)
    kept = old.axes[: len(new.axes) - len(added)] if added else old.axes
    return _axes_text(kept), _axes_text(added), old.is_closed


# --- What does not propagate ------------------------------------------------------------------------


def _reason(rule: OpShardingRule, refusal: Refusal, after: list[TensorProjection]) -> list[str]:
    """The sentence on a refusal; none if no operand or result lacks the axes."""
    axes = _axes_text(refusal.axes[:1])
    if refusal.target is None:
        return [f"{axes} does not propagate along {factor_symbol(refusal.factor)}: {_why(rule, refusal)}"]
    has: FactorSharding | None = after[refusal.target].factors.get(refusal.factor)
    if has is not None and refusal.axes and refusal.axes[0] in has.axes:
        return []
    where = _dimension(rule, refusal.target, refusal.factor)
    return [f"{axes} does not propagate to {where}: {_why(rule, refusal)}"]


def _why(rule: OpShardingRule, refusal: Refusal) -> str:
    text = refusal.reason.value
    culprit = refusal.culprit
    if culprit is None:
        return text
    conflicting = _axes_text(refusal.conflicting)
    if refusal.reason is Reason.OTHER_FACTOR and refusal.other_factor is not None:
        return f"{conflicting} shards {_dimension(rule, culprit, refusal.other_factor)}"
    if refusal.reason is Reason.OTHER_AXES and conflicting:
        return f"{_dimension(rule, culprit, refusal.factor)} is sharded along {conflicting}"
    if refusal.reason is Reason.CLOSED:
        return f"{_dimension(rule, culprit, refusal.factor)} is closed"
    if culprit != refusal.target:
        return f"{text}, in {BEFORE}{culprit}{AFTER}"
    return text


def _axes_text(axes: Sequence[AxisRef]) -> str:
    return replace_unprintable(axis_refs_text(axes))


def _dimension(rule: OpShardingRule, position: int, factor: int) -> str:
    tensor = f"{BEFORE}{position}{AFTER}"
    dims = list(rule.tensors)[position].dims
    result = (f"dimension {dim} of {tensor}" for dim, mapping in enumerate(dims) if factor in mapping.factors)
    return next(result, tensor)
