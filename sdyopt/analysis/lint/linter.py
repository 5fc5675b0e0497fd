"""Runs lint rules on a program, and turns their findings into diagnostics."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cached_property

from sdyopt.analysis.changes.effect import NOISE, Measure, best_of
from sdyopt.analysis.changes.names import ChangeNames, inputs_first, sdy_help
from sdyopt.analysis.changes.outcome import NotCompleted, place_of_collective
from sdyopt.analysis.changes.search import Search
from sdyopt.analysis.changes.trial import Trial
from sdyopt.analysis.changes.trials import trials_on
from sdyopt.analysis.figures.assumed_pipeline import completing_pipeline
from sdyopt.analysis.figures.source_locations import (
    SCRIPT,
    SourceLocation,
    UserLines,
    is_in_library,
    source_location,
)
from sdyopt.analysis.figures.topology import Topology
from sdyopt.analysis.figures.totals import wire_total
from sdyopt.analysis.figures.units import bytes_text, total_text
from sdyopt.analysis.lint.program import LintedProgram, op_to_show
from sdyopt.analysis.lint.rule import UNIT_TEXTS, Finding, LintSettings, Rule, first_use, rule_ids
from sdyopt.analysis.report.check.checker import CheckResult, check_of
from sdyopt.analysis.report.check.trial_text import trial_text
from sdyopt.base.dataclasses import NamedTuple, dataclass, field, replace
from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity
from sdyopt.base.diagnostics.ids import LINT, LINT_COMMENT
from sdyopt.base.diagnostics.location import CallSite, FileLoc, Location, Source, resolve_file_location
from sdyopt.base.diagnostics.usage import nearest
from sdyopt.mlir.asm.parser.module_parser import ParseOptions
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.value_shardings import owning_op
from sdyopt.mlir.error_help.explainer import DiagnosticExplainer
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import BlockArgument
from sdyopt.shardy.record import FunctionResult

# So many callers of a line are named.
_CALLERS = 1
# The rule of all changes that no other rule has found something for.
_CHEAPER_SHARDING = "cheaper-sharding"
# A check of so many places is looked at.
_PLACES = 20


@dataclass(slots=True)
class LintResult:
    """The findings of a run as diagnostics, the most expensive ones first.

    `counts` has the number of findings and the sum of their costs by rule. `allowed` is the number of other
    findings, which comments or settings allow, `tried` that of changes; `has_untried`: there are others.
    `rules` is the number of rules that ran; `looked_at` are the figures of the program, in words.
    `together` are the changes of findings that go together, as one. `is_complete`: no pass failed.
    """

    diagnostics: list[Diagnostic] = field(default_factory=list)
    counts: dict[str, tuple[int, Fraction]] = field(default_factory=dict)
    allowed: int = 0
    rules: int = 0
    looked_at: str = ""
    tried: int = 0
    has_untried: bool = False
    together: Trial | None = None
    is_complete: bool = True


class Linter:
    """Lints the programs of one source, which may be a chunk of a file."""

    def __init__(
        self,
        settings: LintSettings,
        source: Source,
        dialects: DialectTable,
        options: ParseOptions,
        has_passes: bool = False,
        jobs: int = 1,
        machine: Topology | None = None,
        memory: int | None = None,
    ) -> None:
        self._settings = settings
        self._source = source
        self._has_passes = has_passes
        self._jobs = jobs
        self._machine, self._memory = machine, memory
        self._explainer = DiagnosticExplainer(source, dialects, options)
        self._lines = UserLines(list)
        self._comments: Comments = read_comments(source)

    def run(self, as_read: Op, after_passes: Op) -> LintResult:
        """The findings in a program: as it was read, and after the passes of its pipeline."""
        programs = _Programs(as_read, after_passes, self._has_passes, self._jobs, self._machine, self._memory)
        self._lines = UserLines.of_module(as_read)
        result = LintResult(diagnostics=list(self._comments.problems))
        placeds: list[_Placed] = []
        for rule in self._settings.rules():
            result.rules += 1
            for finding in self._findings(rule, programs, result):
                finding = replace(finding, proposals=list(finding.proposals))
                diagnostic, lines = self._diagnostic(rule, finding)
                if self._is_allowed(rule.id, finding, lines):
                    result.allowed += 1
                    continue
                placeds.append(_Placed(rule, finding, diagnostic, lines))
        placeds.sort(key=_Placed.order)
        for placed in self._tried(list(_one_per_line(_without_reported_costs(placeds))), programs, result):
            count, cost = result.counts.get(placed.rule.id, (0, Fraction(0)))
            result.counts[placed.rule.id] = count + 1, cost + (placed.finding.cost or 0)
            result.diagnostics.append(placed.diagnostic)
        result.looked_at, (result.tried, result.has_untried) = programs.looked_at, programs.tried
        return result

    def _tried(self, placeds: list[_Placed], programs: _Programs, result: LintResult) -> Iterator[_Placed]:
        """The findings with changes that save something, in their order, and those that are kept without.

        A change is reported once: findings of what it changes, too, are dropped.
        """
        search = programs.search
        if all(placed.finding.is_kept for placed in placeds) or not programs.trials.can_try:
            yield from placeds
            return
        saving: list[tuple[_Placed, Trial, Measure]] = []
        rest: list[_Placed] = []
        reported: list[Trial] = []
        # What a rule has found for what a line sends says more than that there is a better sharding.
        for placed in sorted(placeds, key=lambda item: (not item.finding.collectives, item.is_of_check)):
            if (best := _best(placed, programs)) is None:
                rest += [placed] if placed.finding.is_kept else []
            elif not placed.is_reported(best[0], reported, programs):
                reported.append(best[0])
                saving.append((placed, *best))
        if len(saving) > 1 and (together := search.together) is not None:
            keys = {trial.change.key for _, trial, _ in saving}
            is_of_findings = all(part.key in keys for part in together.change.parts)
            result.together = together if is_of_findings else None

        alone = {trial.change.key: trial for _, trial, _ in saving if not trial.change.parts}

        def order(item: tuple[_Placed, Trial, Measure]) -> tuple[object, ...]:
            """What saves most comes first, bytes before FLOPs; what goes with others after these."""
            placed, trial, measure = item
            goes_with = any(part.key in alone for part in trial.change.parts)
            return goes_with, measure is Measure.FLOPS, -trial.effect.saved(measure), placed.lines

        for placed, trial, measure in sorted(saving, key=order):
            # A change that is worth it for its time may save nothing of what a rule counts.
            saved = max(trial.effect.saved(measure), 0)
            finding = replace(placed.finding, cost=saved)
            worded = _with_others(search.worded(trial), alone, search.names)
            yield placed._replace(
                finding=finding, diagnostic=_with_change(placed, worded, search.names, self._explainer)
            )
        yield from sorted(rest, key=_Placed.order)

    def _findings(self, rule: Rule, programs: _Programs, result: LintResult) -> Iterable[Finding]:
        try:
            return list(rule.check(programs))
        except NotCompleted:
            result.is_complete = False
            return []

    def _diagnostic(self, rule: Rule, finding: Finding) -> tuple[Diagnostic, tuple[int, ...]]:
        """A finding as a diagnostic, and its lines in the source: of the excerpt, and of the operation."""
        shown_op, steps, notes = op_to_show(finding.op), finding.steps, finding.notes
        if isinstance(shown_op, FuncOp) and notes:
            # What a line of Python does with an argument tells more than the signature of the program.
            shown_op, steps, notes = notes[0].op, (), notes[1:]
        culprit = self._explainer.range_of(shown_op.location, shown_op, *steps)
        # Without a line of Python, such as for an argument, the line is that of the program.
        has_line = resolve_file_location(shown_op.location) is not None
        diagnostic = Diagnostic(
            self._settings.severity(type(rule)),
            _point(finding.place)
            if finding.place is not None
            else self._location(shown_op.location)
            if has_line or culprit is None
            else culprit,
            finding.message,
            help=finding.help,
            id=f"{LINT}/{rule.id}",
        )
        for note in notes:
            shown_note_op = op_to_show(note.op)
            shown = Diagnostic(Severity.NOTE, self._location(shown_note_op.location), note.message)
            shown.culprit = self._explainer.range_of(shown_note_op.location, shown_note_op)
            diagnostic.notes.append(shown)
        diagnostic.culprit = culprit
        statement = self._explainer.range_of(shown_op.location, shown_op)
        lines = [file_range.line for file_range in (diagnostic.culprit, statement) if file_range is not None]
        return diagnostic, tuple(lines)

    def _location(self, location: Location) -> Location:
        """The line of Python that a person would change, with its first callers; else the location."""
        chosen = self._lines.chosen(source_location(location))
        if not chosen.name_stack or not chosen.line:
            return location
        point = (chosen.file, chosen.line, chosen.column)
        start = next((at for at, frame in enumerate(chosen.frames) if frame[1:] == point), 0)
        own = [
            frame for frame in chosen.frames[start:] if not is_in_library(frame) and frame.function != SCRIPT
        ]
        # Columns of Python start at 0.
        points = [FileLoc(frame.file, frame.line, frame.column + 1) for frame in own[: _CALLERS + 1]]
        result: Location = points.pop() if points else FileLoc(*point)
        for inner in reversed(points):
            result = CallSite(inner, result)
        return result

    def _is_allowed(self, id: str, finding: Finding, lines: tuple[int, ...]) -> bool:
        if self._comments.allows(id, lines):
            return True
        location = source_location(op_to_show(finding.op).location)
        where = f"{location.file} {location.name_stack}"
        return any(part in where and id in ids for part, ids in self._settings.allowed)


def _point(place: SourceLocation) -> Location:
    # Columns of Python start at 0.
    return FileLoc(place.file, place.line, place.column + 1)


class _Placed(NamedTuple):
    """A finding of a rule as a diagnostic, and its lines in the source."""

    rule: Rule
    finding: Finding
    diagnostic: Diagnostic
    lines: tuple[int, ...]

    @property
    def is_of_check(self) -> bool:
        """Whether no rule but that of all changes has it."""
        return self.rule.id == _CHEAPER_SHARDING

    def order(self) -> tuple[bool, str, Fraction, tuple[int, ...]]:
        """The most expensive findings come first: bytes before FLOPs, those without a cost last."""
        cost = self.finding.cost or Fraction(0)
        return not cost, self.rule.unit if cost else "", -cost, self.lines

    @property
    def place(self) -> object:
        """The line of the user's program; the text as well, if there is no cost or a piece of the line."""
        file_loc = resolve_file_location(self.diagnostic.location)
        if self.is_of_check:
            # Each place of a check is a finding.
            return self.diagnostic.message
        if self.finding.cost is None or self.finding.steps or file_loc is None:
            return self.diagnostic.culprit or self.diagnostic.location, self.diagnostic.message
        return file_loc.file, file_loc.line

    def is_reported(self, best: Trial, reported: list[Trial], programs: _Programs) -> bool:
        """Whether a change that is reported already is that of a finding, or does what it does."""
        lines = {programs.place_of(collective)[0] for collective in self.finding.collectives}
        is_of_place = bool(lines) and Measure.WIRE in self.rule.measures
        for trial in reported:
            if trial.change.key == best.change.key:
                return True
            if is_of_place:
                # A check has it, too.
                continue
            if trial.figures == best.figures:
                return True
            before, after = (
                sum((programs.search.sent_at(item, line) for line in lines), Fraction(0))
                for item in (None, trial)
            )
            if before and 2 * after <= before:
                return True
        return False


def _best(placed: _Placed, programs: _Programs) -> tuple[Trial, Measure] | None:
    """The best change for a finding, and the figure that it saves enough of.

    For what is sent, it is that of a check, at the place where the check has it.
    """
    finding, search = placed.finding, programs.search
    lines = {programs.place_of(collective)[0] for collective in finding.collectives}
    if lines and Measure.WIRE in placed.rule.measures:
        places = [place for place in programs.check.places if place.key in lines and not place.shared]
        return next(((place.best, Measure.WIRE) for place in places if place.best is not None), None)
    # A compiler may send more after a constraint of a gradient, which no statement of a program computes.
    proposals = [change for change in finding.proposals if not change.is_unsure]
    trials = [trial for trial in search.trials_of(proposals) if trial.figures is not None]
    for measure in placed.rule.measures:
        enough = []
        for trial in trials:
            effect = trial.effect
            least = max(placed.rule.least, NOISE * effect.before.measured(measure), Fraction(1))
            # A rule that lowers memory or FLOPs may propose what costs time.
            is_worth_it = effect.is_worth_it() if measure is not Measure.WIRE else search.pays(trial)
            if effect.saved(measure) >= least and is_worth_it and not trial.may_send_still_more:
                enough.append(trial)
        if better := [trial for trial in enough if not trial.effect.is_worse] or enough:
            best = best_of([(trial, trial.effect) for trial in better], measure)[0]
            return _surer(best, measure, search), measure
    return None


def _surer(trial: Trial, measure: Measure, search: Search) -> Trial:
    """A change in place of one that does not pay or depends on the partitioner, which saves no less."""
    least = trial.effect.saved(measure)
    surer = (item for item in search.ranked if item.effect.holds and item.effect.saved(measure) >= least)
    return trial if trial.effect.holds and search.pays(trial) else next(surer, trial)


def _with_change(
    placed: _Placed, trial: Trial, names: ChangeNames, explainer: DiagnosticExplainer
) -> Diagnostic:
    """A diagnostic with its change: as help, or as the message if that has nothing else to say.

    Then it is at the line to edit.
    """
    diagnostic, in_sdy = placed.diagnostic, sdy_help(trial, names)
    text = trial_text(trial)
    if not placed.is_of_check:
        return replace(diagnostic, help="\n  ".join(filter(None, [text, in_sdy])))
    reason = Diagnostic(Severity.NOTE, diagnostic.location, f"why: {diagnostic.message}")
    located = replace(diagnostic, message=text, help=in_sdy, notes=[reason, *diagnostic.notes])
    edited, place = _line_to_edit(trial, names), placed.finding.place
    if edited is None and place is not None and place.is_differentiated:
        edited = _line_of_state(trial, place.file, names)
    if edited is not None:
        line, op = edited
        reason.culprit = diagnostic.culprit
        located.location, located.culprit = _point(line), explainer.range_of(op.location, op)
    return located


def _with_others(trial: Trial, alone: Mapping[object, Trial], names: ChangeNames) -> Trial:
    """Several changes in one: those that are no findings alone, and the lines of the others."""
    parts = list(zip(trial.change.parts, trial.texts, strict=False))
    others = [alone[part.key] for part, _ in parts if part.key in alone]
    rest = [(part, text) for part, text in parts if part.key not in alone]
    lines = [edited[0].file_text for other in others if (edited := _line_to_edit(other, names)) is not None]
    if not rest or not lines or len(lines) < len(others):
        return trial
    text = f"{'; '.join(text for _, text in rest)}, with the change of {' and '.join(lines)}"
    change = trial.change._replace(parts=tuple(part for part, _ in rest))
    return trial._replace(change=change, text=text, now="")


def _line_to_edit(trial: Trial, names: ChangeNames) -> tuple[SourceLocation, Op] | None:
    """The line of the first statement that a change edits; None if it edits inputs, or has no line."""
    changes = trial.change.parts or (trial.change,)
    edits = [edit for change in changes for edit in change.edits if not edit.is_boundary]
    if not edits or isinstance(edits[0].subject, FunctionResult):
        return None
    line = names.location(edits[0].subject)
    return (line, owning_op(edits[0].subject)) if line.line and line.name_stack else None


def _line_of_state(trial: Trial, file: str, names: ChangeNames) -> tuple[SourceLocation, Op] | None:
    """The line that updates the state of an optimizer, if a change is of that, and what uses it there.

    It is one of the file of the program: that of an optimizer may have no folder that says so.
    """
    subjects = [edit.subject for edit in inputs_first(trial.change.edits)[:1]]
    used = [note.op for value in subjects if isinstance(value, BlockArgument) for note in first_use(value)]
    for op in (op for op in used if op.results and not source_location(op.location).is_differentiated):
        line = names.location(op.results[0])
        at = next((line.at(frame) for frame in line.frames if frame.file == file), line)
        return (at, op) if at.line else None
    return None


def _without_reported_costs(placeds: Iterable[_Placed]) -> Iterator[_Placed]:
    """The findings without those whose collectives all are in findings before."""
    reported: set[Op] = set()
    for placed in placeds:
        collectives = placed.finding.collectives
        if not collectives or not reported.issuperset(collectives):
            reported.update(collectives)
            yield placed


def _one_per_line(placeds: Iterable[_Placed]) -> Iterator[_Placed]:
    """The first finding of each rule on a line, with the number and the cost of the others."""
    groups: dict[object, list[_Placed]] = {}
    for placed in placeds:
        groups.setdefault((placed.rule.id, placed.place), []).append(placed)
    for first, *others in groups.values():
        # Equal messages at one place are one finding.
        if not others or first.finding.cost is None or first.finding.steps:
            yield first
            continue
        cost = sum((placed.finding.cost or Fraction(0) for placed in (first, *others)), Fraction(0))
        total = UNIT_TEXTS[first.rule.unit](cost)
        message = f"{first.diagnostic.message}; {len(others)} more like it on this line, {total} in all"
        alike = [placed.finding for placed in (first, *others)]
        # What is done for one operation of the line is done for all.
        proposals = list({change.key: change for finding in alike for change in finding.proposals}.values())
        collectives = tuple([op for finding in alike for op in finding.collectives])
        finding = replace(first.finding, cost=cost, proposals=proposals, collectives=collectives)
        yield first._replace(finding=finding, diagnostic=replace(first.diagnostic, message=message))


class _Programs:
    """Implements `LintedPrograms`."""

    def __init__(
        self,
        as_read: Op,
        after_passes: Op,
        has_passes: bool,
        jobs: int,
        machine: Topology | None,
        memory: int | None,
    ) -> None:
        self.as_read = LintedProgram(as_read, machine)
        self._memory = machine.hbm_bytes if memory is None and machine is not None else memory
        pipeline = completing_pipeline(after_passes, has_passes, machine)
        self.trials = trials_on(
            after_passes, pipeline, machine, is_inlined=not has_passes, make=LintedProgram
        )
        self.search = Search(self.trials, memory=self._memory, keeps_slower=True, jobs=jobs)
        self.has_failed = False

    def place_of(self, op: Op) -> tuple[str, str, str]:
        """The place of a collective in figures."""
        return place_of_collective(self.with_collectives.collectives[op])

    @property
    def looked_at(self) -> str:
        """`4.70 GiB sent, 2.41 GiB at the peak`, if a rule looked at the program with collectives."""
        if "with_collectives" not in vars(self):
            return ""
        report = self.with_collectives.report
        return f"{total_text(wire_total(report))} sent, {bytes_text(report.memory.peak)} at the peak"

    @property
    def tried(self) -> tuple[int, bool]:
        """How many changes were tried for all that a check has, and whether there are others."""
        check = vars(self).get("check")
        return (check.tried, check.proposed > check.tried) if isinstance(check, CheckResult) else (0, False)

    @cached_property
    def check(self) -> CheckResult:
        """The check of the program, of which all places are findings that a change helps."""
        return check_of(self.with_collectives.report, self.search, self._memory, most=_PLACES)

    @cached_property
    def with_collectives(self) -> LintedProgram:
        if self.has_failed:
            raise NotCompleted
        try:
            with_collectives = self.trials.with_collectives
        except NotCompleted:
            self.has_failed = True
            raise
        assert isinstance(with_collectives, LintedProgram)
        return with_collectives


# Comments in the program that allow findings:
#
#     %1 = stablehlo.dot_general …  // sdy-lint: allow(redundant-compute)
#     // sdy-lint: allow(repeated-collective, loop-invariant-collective)
#     %2 = stablehlo.dot_general …
#     // sdy-lint: allow-file(unused-mesh-axis)
#
# A comment applies to its line or, on a line of its own, to the next line that is not a comment.
_COMMENT = re.compile(r"//[ \t]*sdy-lint:[ \t]*(?P<what>[^\r\n]*)")
_ALLOW = re.compile(r"(?P<scope>allow(?:-file)?)\((?P<ids>[^()]*)\)")
_HELP = "write `// sdy-lint: allow(RULE, RULE)` or `// sdy-lint: allow-file(RULE)`"


@dataclass(slots=True)
class Comments:
    """The rules that comments allow in the whole text, and by line."""

    in_text: set[str] = field(default_factory=set)
    by_line: dict[int, set[str]] = field(default_factory=dict)
    problems: list[Diagnostic] = field(default_factory=list)

    def allows(self, id: str, lines: Iterable[int]) -> bool:
        """Whether a rule is allowed at one of these lines."""
        return id in self.in_text or any(id in self.by_line.get(line, ()) for line in lines)


def read_comments(source: Source) -> Comments:
    """The comments of a source, which may be a chunk of a file. Comments of no known form are problems."""
    comments = Comments()
    # The line of a comment -> the next line that is not a comment.
    following: dict[int, int] = {}
    for comment in _COMMENT.finditer(source.text):
        match = _ALLOW.match(comment["what"])
        if match is None:
            comments.problems.append(
                _problem(source, comment.start("what"), "this comment allows no rules", _HELP)
            )
            continue
        ids = set(_known_ids(source, comment.start("what") + match.start("ids"), match["ids"], comments))
        if match["scope"] == "allow-file":
            comments.in_text |= ids
        else:
            line, _ = source.line_column(comment.start())
            # Whether nothing but blanks is before an offset on its line.
            offset = comment.start()
            is_alone = not source.text[source.text.rfind("\n", 0, offset) + 1 : offset].strip()
            if is_alone:
                line = _next_line(source, line, following)
            comments.by_line.setdefault(line, set()).update(ids)
    return comments


def _known_ids(source: Source, offset: int, text: str, comments: Comments) -> Iterator[str]:
    for match in re.finditer(r"[^\s,]+", text):
        if match[0] in rule_ids():
            yield match[0]
            continue
        message = f"unknown lint rule '{match[0]}'"
        help = nearest(match[0], rule_ids()) or "--help-lint lists the rules"
        comments.problems.append(_problem(source, offset + match.start(), message, help))


def _next_line(source: Source, line: int, following: dict[int, int]) -> int:
    """The next line that is not a comment. Adds it to `following` for all comments up to it."""
    if line in following:
        return following[line]
    first = line
    while line < source.line_count:
        line += 1
        if not source.line_text(line).lstrip().startswith("//"):
            break
    following.update((number, line) for number in range(first, line))
    return line


def _problem(source: Source, offset: int, message: str, help: str) -> Diagnostic:
    return Diagnostic(Severity.WARNING, source.location(offset), message, help=help, id=LINT_COMMENT)
