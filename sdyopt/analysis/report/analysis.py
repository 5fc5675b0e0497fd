"""Reports on the programs of a run: their texts, and the checks against a budget and a baseline."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from sdyopt.analysis.figures.causes import stated_results, with_stated_results
from sdyopt.analysis.figures.execution_counts import assumed_trips
from sdyopt.analysis.figures.figures import Report
from sdyopt.analysis.figures.program_report import report_on
from sdyopt.analysis.figures.topology import read_topology
from sdyopt.analysis.interface import Analysis, Program, Run
from sdyopt.analysis.interface.flag import STDOUT
from sdyopt.analysis.report import Options
from sdyopt.analysis.report.budget import Budget
from sdyopt.analysis.report.check import checks_of
from sdyopt.analysis.report.formats import Reported, report_text
from sdyopt.analysis.report.json_report import read_baseline
from sdyopt.analysis.report.text_report import text_report
from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity, emit
from sdyopt.base.diagnostics.ids import (
    BASELINE_ERROR,
    BASELINE_EXCEEDED,
    BUDGET_ERROR,
    BUDGET_EXCEEDED,
    TOPOLOGY_ERROR,
    identified,
    identify,
)
from sdyopt.base.diagnostics.text import counted
from sdyopt.mlir.dialects.func import FuncOp


class Reporting(Analysis[Options]):
    """The reports of one run. A topology, budget or baseline with mistakes is located in its file."""

    phase = "Report"

    def __init__(self, options: Options, run: Run) -> None:
        super().__init__(options, run)
        if (path := options.report) is not None and path != STDOUT:
            help = "print a report for each chunk with --report, or give each chunk a file of its own"
            run.check_is_one_chunk(f"--report={path} is one file", help)
        with identified(TOPOLOGY_ERROR):
            self._topology = None if options.speeds is None else read_topology(*options.speeds)
        with identified(BUDGET_ERROR):
            self._budget = None if options.budget is None else Budget(*options.budget)
        with identified(BASELINE_ERROR):
            self._baseline = None if options.baseline is None else read_baseline(*options.baseline)
        self._stated: dict[str, str] = {}
        self._tolerance = Fraction(options.tolerance) / 100

    def on_input(self, program: Program) -> None:
        self._stated = stated_results(program.op)

    def on_output(self, program: Program) -> None:
        report = report_on(program.op, self._topology, assumed_trips(self.options.assume_trips))
        report = with_stated_results(report, self._stated)
        for function in program.op.nested(FuncOp):
            if len(function.body.blocks) > 1:
                blocks = counted(len(function.body.blocks), "block")
                message = (
                    f"@{function.sym_name} has {blocks}: figures of memory and time do not follow branches"
                )
                emit(Diagnostic(Severity.WARNING, function.location, message))
        path = self.options.report
        report.assumption, report.group_by = program.assumption, self.options.group_by
        if self.options.memory is not None:
            report.device_memory = self.options.memory
        report.compiled = program.compiled(report)
        if path == STDOUT:
            self.texts.append(text_report(report, self.run.width, self.options.report_rows or None))
        elif path is not None:
            check = next(iter(program.shared(checks_of)), None)
            root = self.options.source_root
            reported = Reported(report, program.text, self.run.name, check, root)
            self.run.write_file(path, report_text(reported, path))
        for diagnostic in self.exceeded(report):
            self.is_passed &= diagnostic.severity is not Severity.ERROR
            emit(diagnostic)

    def exceeded(self, report: Report) -> Iterator[Diagnostic]:
        """The diagnostics of the budget and of the baseline."""
        for diagnostic in (
            ()
            if self._budget is None
            else self._budget.exceeded(report.best_known, self.options.budget_allow_unknown)
        ):
            if not diagnostic.id:
                identify(diagnostic, BUDGET_EXCEEDED)
            yield diagnostic
        for diagnostic in () if self._baseline is None else self._baseline.grown(report, self._tolerance):
            identify(diagnostic, BASELINE_EXCEEDED)
            yield diagnostic
