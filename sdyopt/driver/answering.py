"""Records what a pipeline does to shardings, answers questions, and makes remarks and the page of steps.

Imported on use.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager

from sdyopt.analysis.explain.explainer import Explainer
from sdyopt.analysis.explain.recorded_program import RecordedProgram
from sdyopt.analysis.remarks.record_remarks import RecordRemarks
from sdyopt.analysis.remarks.remark import Remark, remark_text
from sdyopt.analysis.remarks.remark_filter import RemarkFilter
from sdyopt.analysis.remarks.remark_yaml import remark_yaml
from sdyopt.analysis.steps.steps_page import steps_page
from sdyopt.asm.parser.module_parser import ParseOptions
from sdyopt.diagnostics.diagnostic import Diagnostic, Severity, emit
from sdyopt.diagnostics.ids import REMARK
from sdyopt.diagnostics.source import Source
from sdyopt.driver.job import Job
from sdyopt.ir.dialect import DialectTable
from sdyopt.ir.operation import Op


class Answering:
    """The questions about one chunk. The constructor raises DiagnosticError if a question names nothing."""

    def __init__(
        self, job: Job, source: Source, module: Op, dialects: DialectTable, options: ParseOptions
    ) -> None:
        self._job = job
        self._program = RecordedProgram(source, module, dialects, options)
        self._explainer = Explainer(self._program)
        self._targets = [self._explainer.target(question) for question in job.questions]

    def recording(self) -> AbstractContextManager[None]:
        """Records in the `with` block, in which the pipeline runs."""
        return self._program.recording()

    def answers(self, width: int) -> str:
        """The answers as text, separated by empty lines. Raises DiagnosticError if nothing was recorded."""
        return "\n".join(self._explainer.answer(target, width) for target in self._targets)

    def remark(self) -> str:
        """Emits the remarks, or returns them as YAML if the job writes them to a file."""
        if not self._job.remarks.filters:
            return ""
        if self._job.remarks.path:
            return "".join(map(remark_yaml, self._remarks()))
        for remark in self._remarks():
            text = remark_text(remark)
            emit(Diagnostic(Severity.REMARK, remark.location, text, id=f"{REMARK}/{remark.name}"))
        return ""

    def write_steps(self) -> None:
        """Writes the steps to the file of the job, if it has one. Raises DiagnosticError without steps."""
        if self._job.steps_path:
            self._job.write_file(self._job.steps_path, steps_page(self._program))

    def _remarks(self) -> Iterator[Remark]:
        options, explainer = self._job.remarks, self._explainer
        selected = RemarkFilter(options.filters)
        return iter(RecordRemarks(explainer.record, explainer.names, selected, options.is_final))
