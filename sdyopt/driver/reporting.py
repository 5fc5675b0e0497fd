"""Reports on the programs of a job: their texts, and the checks against a budget and a baseline."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from sdyopt.analysis.figures.figures import Report
from sdyopt.analysis.figures.program_report import report_on
from sdyopt.analysis.figures.topology import read_topology
from sdyopt.analysis.report.baseline import read_baseline
from sdyopt.analysis.report.budget import Budget
from sdyopt.analysis.report.formats import report_text
from sdyopt.analysis.report.text_report import text_report
from sdyopt.diagnostics.diagnostic import Diagnostic, Severity, emit
from sdyopt.diagnostics.ids import (
    BASELINE_ERROR,
    BASELINE_EXCEEDED,
    BUDGET_ERROR,
    BUDGET_EXCEEDED,
    BUDGET_UNKNOWN,
    TOPOLOGY_ERROR,
    identified,
    identify,
)
from sdyopt.driver.job import Job
from sdyopt.ir.operation import Op


class Reporting:
    """The reports of one job.

    `texts` are printed to stdout; `is_within_limits` becomes False when a limit is exceeded. The constructor
    raises DiagnosticError, located in the file, for an invalid topology, budget or baseline.
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        options = job.report_options
        with identified(TOPOLOGY_ERROR):
            self._topology = None if options.topology is None else read_topology(*options.topology)
        with identified(BUDGET_ERROR):
            self._budget = None if options.budget is None else Budget(*options.budget)
        with identified(BASELINE_ERROR):
            self._baseline = None if options.baseline is None else read_baseline(*options.baseline)
        self._tolerance = Fraction(options.tolerance) / 100
        self.texts: list[str] = []
        self.is_within_limits = True

    def on_input(self, op: Op) -> None:
        """Does nothing: a report is on the program after the pipeline."""

    def on_output(self, op: Op, program: Callable[[], str]) -> None:
        """Reports on a program, and emits diagnostics of the budget and the baseline.

        `program` returns the printed program.
        """
        options = self._job.report_options
        report = report_on(op, self._topology)
        if options.to_stdout:
            self.texts.append(text_report(report, options.width, options.rows))
        if options.path:
            text = report_text(report, options.path, program, self._job.name)
            self._job.write_file(options.path, text)
        self._check(report)

    def _check(self, report: Report) -> None:
        if self._budget is not None:
            for diagnostic in self._budget.exceeded(report):
                is_error = diagnostic.severity is Severity.ERROR
                self._emit(diagnostic, BUDGET_EXCEEDED if is_error else BUDGET_UNKNOWN)
        if self._baseline is not None:
            for diagnostic in self._baseline.grown(report, self._tolerance):
                self._emit(diagnostic, BASELINE_EXCEEDED)

    def _emit(self, diagnostic: Diagnostic, id: str) -> None:
        self.is_within_limits &= diagnostic.severity is not Severity.ERROR
        identify(diagnostic, id)
        emit(diagnostic)
