"""Runs lint rules on a program, and turns their findings into diagnostics."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from sdyopt.analysis.figures.source_locations import source_location
from sdyopt.analysis.figures.units import bytes_text, flops_text
from sdyopt.analysis.figures.user_lines import SCRIPT, UserLines, is_in_library
from sdyopt.analysis.lint.program import LintedProgram, op_to_show
from sdyopt.analysis.lint.rule import UNIT_TEXTS, Finding, Rule, rule_ids
from sdyopt.analysis.lint.settings import Settings
from sdyopt.analysis.trials.effect import NOISE, Measure
from sdyopt.analysis.trials.remedies import Remedies, Tried, joined
from sdyopt.analysis.trials.trials import NotCompleted, Trials, completing_pipeline
from sdyopt.base.dataclasses import dataclass, field, replace
from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity
from sdyopt.base.diagnostics.ids import LINT, LINT_COMMENT
from sdyopt.base.diagnostics.location import CallSite, FileLoc, Location, Source, resolve_file_location
from sdyopt.base.diagnostics.usage import nearest
from sdyopt.mlir.asm.parser.module_parser import ParseOptions
from sdyopt.mlir.error_help.explainer import Explainer
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.operation import Op

_TEXTS = {Measure.WIRE: bytes_text, Measure.MEMORY: bytes_text, Measure.FLOPS: flops_text}
# So many callers of a line are named.
_CALLERS = 2
# What was tried saves this.
_SAVED = "{saved}"
# A change that is no answer to a finding has to save this share of the figure.
_WORTH = Fraction(1, 10)


@dataclass(slots=True)
class LintResult:
    """The findings of a run as diagnostics, the most expensive ones first.

    `counts` has the number of findings and the sum of their costs by rule. `allowed` is the number of other
    findings, which comments or settings allow, `untried` that of findings for which no trial was left.
    `is_complete`: no pass failed.
    """

    diagnostics: list[Diagnostic] = field(default_factory=list)
    counts: dict[str, tuple[int, Fraction]] = field(default_factory=dict)
    allowed: int = 0
    untried: int = 0
    is_complete: bool = True


class Linter:
    """Lints the programs of one source, which may be a chunk of a file."""

    def __init__(
        self,
        settings: Settings,
        source: Source,
        dialects: DialectTable,
        options: ParseOptions,
        has_passes: bool = False,
    ) -> None:
        self._settings = settings
        self._source = source
        self._has_passes = has_passes
        self._explainer = Explainer(source, dialects, options)
        self._lines = UserLines(list)
        self._comments: Comments = read_comments(source)

    def run(self, as_read: Op, after_passes: Op) -> LintResult:
        """The findings in a program: as it was read, and after the passes of its pipeline."""
        programs = _Programs(as_read, after_passes, self._has_passes)
        self._lines = UserLines.of_module(as_read)
        result = LintResult(diagnostics=list(self._comments.problems))
        found: list[_Placed] = []
        for rule in self._settings.rules():
            for finding in self._findings(rule, programs, result):
                finding = replace(finding, remedies=list(finding.remedies))
                diagnostic, lines = self._diagnostic(rule, finding)
                if self._is_allowed(rule.id, finding, lines):
                    result.allowed += 1
                    continue
                found.append(_Placed(rule, finding, diagnostic, lines))
        found.sort(key=_Placed.order)
        for placed in self._tried(list(_one_per_line(_without_reported_costs(found))), programs, result):
            count, cost = result.counts.get(placed.rule.id, (0, Fraction(0)))
            result.counts[placed.rule.id] = count + 1, cost + (placed.finding.cost or 0)
            result.diagnostics.append(placed.diagnostic)
        return result

    def _tried(self, found: list[_Placed], programs: _Programs, result: LintResult) -> Iterator[_Placed]:
        """The findings with remedies that save something, the most first, and those that are kept without.

        Each remedy is tried with those of the findings before it, so that no saving is reported twice.
        """
        has_remedies = any(each.finding.remedies or not each.finding.is_kept for each in found)
        if not has_remedies or not programs.trials.can_try:
            yield from found
            return
        remedies = Remedies(programs.trials)
        saving: list[tuple[bool, Fraction, int, int, _Placed]] = []
        rest: list[_Placed] = []
        for number, placed in enumerate(found):
            if (tried := _best(placed, remedies)) is not None:
                size = len(tried.remedy.changes)
                saving.append((tried.effect.is_worse, -_saved(placed, tried)[1], size, number, placed))
            elif placed.finding.is_kept:
                rest.append(placed)
            elif not remedies.remaining:
                result.untried += 1
        # A tried saving is worth more than a finding without one.
        for *_, placed in sorted(saving, key=lambda each: each[:4]):
            # What is uncertain alone may be certain with the changes before.
            if (tried := _best(placed, remedies, only_certain=True)) is None:
                if placed.finding.is_kept and _best(placed, remedies) is not None:
                    rest.append(placed)
                continue
            remedies.accept(tried)
            measure, saved = _saved(placed, tried)
            finding = replace(placed.finding, cost=saved)
            text = f"{_TEXTS[measure](saved)} {measure.value}"
            message = placed.diagnostic.message.replace(_SAVED, text)
            diagnostic = replace(placed.diagnostic, message=message, help=tried.help)
            yield placed._replace(finding=finding, diagnostic=diagnostic)
        yield from sorted(rest, key=_Placed.order)

    def _findings(self, rule: Rule, programs: _Programs, result: LintResult) -> Iterable[Finding]:
        try:
            return list(rule.check(programs))
        except NotCompleted:
            result.is_complete = False
            return []

    def _diagnostic(self, rule: Rule, finding: Finding) -> tuple[Diagnostic, tuple[int, ...]]:
        """A finding as a diagnostic, and its lines in the source: of the excerpt, and of the operation."""
        shown_op = op_to_show(finding.op)
        culprit = self._explainer.range_of(shown_op.location, shown_op, *finding.steps)
        # Without a line of Python, such as for an argument, the line is that of the program.
        has_line = resolve_file_location(shown_op.location) is not None
        diagnostic = Diagnostic(
            self._settings.severity(type(rule)),
            self._location(shown_op.location) if has_line or culprit is None else culprit,
            finding.message,
            help=finding.help,
            id=f"{LINT}/{rule.id}",
        )
        for note in finding.notes:
            shown_note_op = op_to_show(note.op)
            shown = Diagnostic(Severity.NOTE, self._location(shown_note_op.location), note.message)
            shown.culprit = self._explainer.range_of(shown_note_op.location, shown_note_op)
            diagnostic.notes.append(shown)
        diagnostic.culprit = culprit
        statement = self._explainer.range_of(shown_op.location, shown_op)
        lines = [each.line for each in (diagnostic.culprit, statement) if each is not None]
        return diagnostic, tuple(lines)

    def _location(self, location: Location) -> Location:
        """The line of Python that a person would change, with its first callers; else the location."""
        chosen = self._lines.chosen(source_location(location))
        if not chosen.name_stack or not chosen.line:
            return location
        point = (chosen.file, chosen.line, chosen.column)
        start = next((at for at, each in enumerate(chosen.frames) if each[1:] == point), 0)
        own = [each for each in chosen.frames[start:] if not is_in_library(each) and each.function != SCRIPT]
        # Columns of Python start at 0.
        points = [FileLoc(each.file, each.line, each.column + 1) for each in own[: _CALLERS + 1]]
        found: Location = points.pop() if points else FileLoc(*point)
        for inner in reversed(points):
            found = CallSite(inner, found)
        return found

    def _is_allowed(self, id: str, finding: Finding, lines: tuple[int, ...]) -> bool:
        if self._comments.allows(id, lines):
            return True
        location = source_location(op_to_show(finding.op).location)
        where = f"{location.file} {location.name_stack}"
        return any(part in where and id in ids for part, ids in self._settings.allowed)


class _Placed(NamedTuple):
    """A finding of a rule as a diagnostic, and its lines in the source."""

    rule: Rule
    finding: Finding
    diagnostic: Diagnostic
    lines: tuple[int, ...]

    def order(self) -> tuple[bool, str, Fraction, tuple[int, ...]]:
        """The most expensive findings come first: bytes before FLOPs, those without a cost last."""
        cost = self.finding.cost or Fraction(0)
        return not cost, self.rule.unit if cost else "", -cost, self.lines

    @property
    def place(self) -> object:
        """The line of the user's program; the text as well, if there is no cost or a piece of the line."""
        found = resolve_file_location(self.diagnostic.location)
        if self.finding.cost is None or self.finding.steps or found is None:
            return self.diagnostic.culprit or self.diagnostic.location, self.diagnostic.message
        return found.file, found.line


def _best(placed: _Placed, remedies: Remedies, only_certain: bool = False) -> Tried | None:
    """The best remedy of a finding that saves enough; if `only_certain`, and may not lose more."""
    finding, least = placed.finding, placed.rule.least
    share = _WORTH if finding.is_better_only else NOISE
    for measure in placed.rule.measures:
        found = remedies.best(finding.remedies, measure, least, finding.is_better_only, share, only_certain)
        if found is not None:
            return found
    return None


def _saved(placed: _Placed, tried: Tried) -> tuple[Measure, Fraction]:
    """The savings of a remedy, by the first of the measures by which it saves enough."""
    saved = [(each, tried.effect.saved(each)) for each in placed.rule.measures]
    return next((each for each in saved if each[1] >= placed.rule.least), saved[0])


def _without_reported_costs(found: Iterable[_Placed]) -> Iterator[_Placed]:
    """The findings without those whose collectives all are in findings before."""
    reported: set[Op] = set()
    for placed in found:
        collectives = placed.finding.collectives
        if not collectives or not reported.issuperset(collectives):
            reported.update(collectives)
            yield placed


def _one_per_line(found: Iterable[_Placed]) -> Iterator[_Placed]:
    """The first finding of each rule on a line, with the number and the cost of the others."""
    groups: dict[object, list[_Placed]] = {}
    for placed in found:
        groups.setdefault((placed.rule.id, placed.place), []).append(placed)
    for first, *others in groups.values():
        # Equal messages at one place are one finding.
        if not others or first.finding.cost is None or first.finding.steps:
            yield first
            continue
        cost = sum((each.finding.cost or Fraction(0) for each in (first, *others)), Fraction(0))
        # What is saved was tried with all of them.
        total = "" if _SAVED in first.diagnostic.message else f", {UNIT_TEXTS[first.rule.unit](cost)} in all"
        message = f"{first.diagnostic.message}; {len(others)} more like it on this line{total}"
        remedies = [each.finding.remedies for each in (first, *others)]
        # What is done for one operation of the line is done for all.
        together = [joined(each) for each in zip(*remedies, strict=False)]
        finding = replace(first.finding, cost=cost, remedies=together)
        yield first._replace(finding=finding, diagnostic=replace(first.diagnostic, message=message))


class _Programs:
    """Implements `LintedPrograms`."""

    def __init__(self, as_read: Op, after_passes: Op, has_passes: bool) -> None:
        self.as_read = LintedProgram(as_read)
        self.trials = Trials(after_passes, completing_pipeline(after_passes, has_passes), make=LintedProgram)
        self.has_failed = False

    @cached_property
    def with_collectives(self) -> LintedProgram:
        if self.has_failed:
            raise NotCompleted
        try:
            found = self.trials.with_collectives
        except NotCompleted:
            self.has_failed = True
            raise
        assert isinstance(found, LintedProgram)
        return found


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
    found = Comments()
    # The line of a comment -> the next line that is not a comment.
    following: dict[int, int] = {}
    for comment in _COMMENT.finditer(source.text):
        match = _ALLOW.match(comment["what"])
        if match is None:
            found.problems.append(
                _problem(source, comment.start("what"), "this comment allows no rules", _HELP)
            )
            continue
        ids = set(_known_ids(source, comment.start("what") + match.start("ids"), match["ids"], found))
        if match["scope"] == "allow-file":
            found.in_text |= ids
        else:
            line, _ = source.line_column(comment.start())
            if _is_alone(source, comment.start()):
                line = _next_line(source, line, following)
            found.by_line.setdefault(line, set()).update(ids)
    return found


def _known_ids(source: Source, offset: int, text: str, found: Comments) -> Iterator[str]:
    for match in re.finditer(r"[^\s,]+", text):
        if match[0] in rule_ids():
            yield match[0]
            continue
        message = f"unknown lint rule '{match[0]}'"
        help = nearest(match[0], rule_ids()) or "--help-lint lists the rules"
        found.problems.append(_problem(source, offset + match.start(), message, help))


def _is_alone(source: Source, offset: int) -> bool:
    """Whether nothing but blanks is before an offset on its line."""
    return not source.text[source.text.rfind("\n", 0, offset) + 1 : offset].strip()


def _next_line(source: Source, line: int, following: dict[int, int]) -> int:
    """The next line that is not a comment. Adds it to `following` for all comments up to it."""
    if line in following:
        return following[line]
    first = line
    while line < source.line_count:
        line += 1
        if not source.line_text(line).lstrip().startswith("//"):
            break
    following.update((each, line) for each in range(first, line))
    return line


def _problem(source: Source, offset: int, message: str, help: str) -> Diagnostic:
    return Diagnostic(Severity.WARNING, source.location(offset), message, help=help, id=LINT_COMMENT)
