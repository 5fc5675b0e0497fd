"""`--lint`: the findings in the programs of a run, and their summary."""

from __future__ import annotations

import os
from collections.abc import Sequence
from textwrap import wrap

from sdyopt.analysis.figures.assumed_pipeline import remark_on_lines
from sdyopt.analysis.figures.topology import read_topology
from sdyopt.analysis.interface import Analysis, Program, Run
from sdyopt.analysis.lint import Options
from sdyopt.analysis.lint.linter import Linter, LintResult
from sdyopt.analysis.lint.rule import ALL, SAVED, UNIT_TEXTS, LintSettings, all_rules, read_settings, select
from sdyopt.base.diagnostics.diagnostic import Severity, emit
from sdyopt.base.diagnostics.ids import LINT_CONFIG_ERROR, TOPOLOGY_ERROR, identified
from sdyopt.base.diagnostics.text import counted

_LEAST_WIDTH = 40
# The severities at which a run fails, by --lint-fail-on.
_FAILING = {
    "never": (),
    "error": (Severity.ERROR,),
    "warning": (Severity.ERROR, Severity.WARNING),
    "remark": (Severity.ERROR, Severity.WARNING, Severity.REMARK),
}


class Linting(Analysis[Options]):
    """The lint runs of one run. It also fails if a rule could not be checked.

    The constructor raises DiagnosticError for an invalid configuration file, and UsageError for an unknown
    rule.
    """

    phase = "Lint"

    def __init__(self, options: Options, run: Run) -> None:
        super().__init__(options, run)
        with identified(LINT_CONFIG_ERROR):
            self._settings = LintSettings() if options.config is None else read_settings(*options.config)
        with identified(TOPOLOGY_ERROR):
            self._topology = None if options.speeds is None else read_topology(*options.speeds)
        if options.lint != (ALL,):
            self._settings.selected = select(options.lint)
        self._failing = _FAILING[options.lint_fail_on or self._settings.fail_on]

    def on_result(self, program: Program) -> None:
        assert program.before is not None
        program.shared(remark_on_lines)
        has_passes = bool(program.pipeline.elements) and not program.assumption
        options = self.options
        linter = Linter(
            self._settings,
            program.source,
            program.dialects,
            program.parse_options,
            has_passes,
            os.cpu_count() or 1,
            self._topology,
            options.memory,
        )
        # Trials need a program without collectives; the linter inserts them itself.
        after = program.op if has_passes else program.before
        result = linter.run(program.before, after)
        for diagnostic in result.diagnostics:
            self.is_passed &= diagnostic.severity not in self._failing
            emit(diagnostic)
        self.is_passed &= result.is_complete
        self.texts.append(summary_text(result, self.run.width, self._failing))


def summary_text(result: LintResult, width: int, failing: Sequence[Severity] = ()) -> str:
    """A line for each rule that found something; what all changes save; then what was looked at.

    `failing` are the severities that fail the run.
    """
    lines = []
    for rule in all_rules():
        if rule.id in result.counts:
            count, cost = result.counts[rule.id]
            # What changes save overlaps.
            is_sum = count == 1 or rule.cost != SAVED
            costs = f"  {UNIT_TEXTS[rule.unit](cost)} {rule.cost}" if cost and rule.cost and is_sum else ""
            lines.append(f"{count:>5}  {rule.id}{costs}")
    total = sum(count for count, _ in result.counts.values())
    if (together := result.together) is not None:
        parts = len(together.change.parts)
        which = "" if parts == total else f"{parts} of them "
        lines.append(f"{which}together: {together.effect.figures_text}")
    text = "no findings" if not total else counted(total, "finding")
    text += f" of {counted(result.rules, 'rule')}"
    if result.has_untried:
        # A program without findings may have a better sharding.
        text += f", with {counted(result.tried, 'change')} tried, and others not"
    elif result.tried:
        text += f", {counted(result.tried, 'change')} tried"
    if result.looked_at:
        text += f"; {result.looked_at}"
    if result.allowed:
        text += f"; {result.allowed} allowed"
    if not result.is_complete:
        text += "; a pass failed, so that the rules on the program with collectives did not run"
    ends = [text]
    if total:
        severities = {diagnostic.severity for diagnostic in result.diagnostics}
        passes = result.is_complete and severities.isdisjoint(failing)
        ends.append(
            f"{'the run passes: --lint-fail-on=warning fails it; ' if passes else ''}"
            "--help-lint=RULE explains a rule"
        )
    for end in ends:
        lines += wrap(end, max(width, _LEAST_WIDTH), subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join(lines) + "\n"
