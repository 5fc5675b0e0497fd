"""Compares the program of a job with another one, or with a report on it."""

from __future__ import annotations

from collections.abc import Callable

from sdyopt.analysis.comparison.comparison import Comparison, Program, compare
from sdyopt.analysis.comparison.comparison_formats import comparison_text, text_comparison
from sdyopt.analysis.comparison.program_values import ProgramValues, values_of
from sdyopt.analysis.comparison.report_values import program_of_report, values_at_peak
from sdyopt.analysis.figures.program_report import report_on
from sdyopt.diagnostics.ids import COMPARISON_ERROR, identified
from sdyopt.diagnostics.source import Source
from sdyopt.driver.job import Job, JobFailed, Outcome
from sdyopt.ir.operation import Op
from sdyopt.releases import following

REPORT_SUFFIX = ".json"


class Comparing:
    """The comparison of one job with this source.

    The constructor runs the other job. It raises JobFailed if that fails, after its errors are reported, and
    DiagnosticError, located in the file, for an invalid report.
    """

    def __init__(self, job: Job, source: Source, run: Callable[[Job], Outcome]) -> None:
        self._job = job
        options = job.comparison
        # Annotations are worth comparing if both programs run passes, and are different ones.
        has_passes = job.pipeline.elements and options.pipeline.elements
        other_text = options.data.decode("utf-8", "surrogateescape")
        has_inputs = bool(has_passes and source.text != other_text)
        self._observed = _Observed(job.name, options.titles[1], has_inputs)
        self.texts: list[str] = []
        self.is_within_limits = True
        self._is_report = options.name.endswith(REPORT_SUFFIX)
        if self._is_report:
            with identified(COMPARISON_ERROR):
                self._other = program_of_report(options.name, other_text)
            return
        observed = _Observed(options.name, options.titles[0], has_inputs)
        with following(options.sdy_version):
            if not run(_other_job(job, observed)).succeeded:
                raise JobFailed
        self._other = observed.program

    def on_input(self, op: Op) -> None:
        self._observed.on_input(op)

    def on_output(self, op: Op, program: Callable[[], str]) -> None:
        self._observed.on_output(op, program)
        found = self._comparison()
        options, report_options = self._job.comparison, self._job.report_options
        if options.to_stdout:
            self.texts.append(text_comparison(found, report_options.width, report_options.rows))
        if options.path:
            self._job.write_file(options.path, comparison_text(found, options.path))

    def _comparison(self) -> Comparison:
        program = self._observed.program
        return compare(self._other, values_at_peak(program) if self._is_report else program)


class _Observed:
    """The values and the report of a program; with `has_inputs`, also the values before its passes."""

    def __init__(self, name: str, title: str, has_inputs: bool) -> None:
        self._name, self._title, self._has_inputs = name, title, has_inputs
        self._inputs: ProgramValues | None = None
        self._program: Program | None = None
        self.texts: list[str] = []
        self.is_within_limits = True

    @property
    def program(self) -> Program:
        """The program that was observed."""
        assert self._program is not None
        return self._program

    def on_input(self, op: Op) -> None:
        if self._has_inputs:
            self._inputs = values_of(op, self._name)

    def on_output(self, op: Op, program: Callable[[], str]) -> None:
        self._program = Program(self._title, values_of(op, self._name), report_on(op), self._inputs)


def _other_job(job: Job, observed: _Observed) -> Job:
    """The job of the other program, which shows errors only."""
    options = job.comparison
    return Job(
        options.name,
        lambda: options.data,
        options.pipeline,
        write_log=job.write_log,
        paint=job.paint,
        columns=job.columns,
        max_op_lines=job.max_op_lines,
        collect=job.collect,
        shows_text=job.shows_text,
        verbosity="errors",
        hides_notes=job.hides_notes,
        shows_trace=job.shows_trace,
        allow_unregistered_dialects=job.allow_unregistered_dialects,
        mesh_version=job.mesh_version,
        implicit_module=job.implicit_module,
        verify_each=job.verify_each,
        print_op_on_diagnostic=job.print_op_on_diagnostic,
        prints_output=False,
        observers=(observed,),
    )
