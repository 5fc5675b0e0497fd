"""`--compare-hlo`: the collectives of the programs of a run beside those that XLA compiled."""

from __future__ import annotations

from pathlib import PurePath

from sdyopt.analysis.figures.program_report import report_on
from sdyopt.analysis.figures.topology import read_topology
from sdyopt.analysis.hlo_comparison import Options
from sdyopt.analysis.hlo_comparison.comparison import HOW_TO_COMPILE, compare_hlo, compiled_report
from sdyopt.analysis.hlo_comparison.hlo_comparison import FORMATS, comparison_text
from sdyopt.analysis.hlo_comparison.hlo_text import read_hlo
from sdyopt.analysis.interface import Analysis, Program, Run
from sdyopt.analysis.report.budget import Budget
from sdyopt.base.diagnostics.diagnostic import Diagnostic, DiagnosticError, Severity, emit
from sdyopt.base.diagnostics.ids import (
    BUDGET_ERROR,
    BUDGET_EXCEEDED,
    INPUT_ERROR,
    TOPOLOGY_ERROR,
    identified,
    identify,
)
from sdyopt.base.diagnostics.location import FileLoc


class ComparingHlo(Analysis[Options]):
    """The comparison of one run. Text that is not HLO is located in its file, and so is a wrong budget."""

    phase = "Comparison with HLO"

    def __init__(self, options: Options, run: Run) -> None:
        super().__init__(options, run)
        assert options.compare_hlo is not None
        run.check_is_one_chunk(
            f"--compare-hlo={options.compare_hlo.name} is one program", "compare each chunk with its own HLO"
        )
        with identified(INPUT_ERROR):
            self._compiled = read_hlo(*options.compare_hlo)
        with identified(TOPOLOGY_ERROR):
            self._topology = None if options.speeds is None else read_topology(*options.speeds)
        with identified(BUDGET_ERROR):
            self._budget = None if options.hlo_budget is None else Budget(*options.hlo_budget)

    def on_output(self, program: Program) -> None:
        with identified(INPUT_ERROR):
            comparison = compare_hlo(report_on(program.op, self._topology), self._compiled)
        if comparison.mismatch:
            # Limits would be checked on another program.
            is_error = self._budget is not None
            self.is_passed &= not is_error
            severity = Severity.ERROR if is_error else Severity.WARNING
            message = f"the HLO is of another program: {comparison.mismatch}"
            diagnostic = Diagnostic(severity, FileLoc(self._compiled.name, 1, 1), message, id=INPUT_ERROR)
            emit(DiagnosticError(diagnostic).help(HOW_TO_COMPILE).diagnostic)
        rows = self.options.report_rows or None
        if (path := self.options.compare_hlo_output) is None:
            self.texts.append(comparison_text(comparison, self.run.width, rows))
        else:
            self.run.write_file(path, FORMATS[PurePath(path).suffix](comparison))
        for item in () if self._budget is None else self._budget.exceeded(compiled_report(comparison)):
            is_error = item.severity is Severity.ERROR
            self.is_passed &= not is_error
            identify(item, BUDGET_EXCEEDED)
            emit(item)
