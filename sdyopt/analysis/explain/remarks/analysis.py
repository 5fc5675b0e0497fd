"""Emits the remarks on the programs of a run, or writes them to a file."""

from __future__ import annotations

from contextlib import AbstractContextManager

from sdyopt.analysis.explain.recorded_program import recorded
from sdyopt.analysis.explain.remarks import Options
from sdyopt.analysis.explain.remarks.record_remarks import RecordRemarks
from sdyopt.analysis.explain.remarks.remark import RemarkFilter, remark_text, remark_yaml
from sdyopt.analysis.interface import Analysis, Program, Run
from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity, emit
from sdyopt.base.diagnostics.ids import REMARK


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
