"""Runs a job: processes each chunk, and shows or verifies its diagnostics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdyopt.asm.printer.asm_printer import print_for_note
from sdyopt.diagnostics.diagnostic import Diagnostic, DiagnosticError, Severity, emit, handling
from sdyopt.diagnostics.expected import ExpectedDiagnostics
from sdyopt.diagnostics.ids import INPUT_ERROR, USAGE_ERROR, identified
from sdyopt.diagnostics.location import UnknownLoc
from sdyopt.diagnostics.once import separate_run
from sdyopt.diagnostics.render import render
from sdyopt.diagnostics.source import Source
from sdyopt.diagnostics.usage import UsageError
from sdyopt.driver.chunk import ChunkFailed, ChunkRun, resource_error
from sdyopt.driver.dialect_tables import dialect_table
from sdyopt.driver.interpreter import interpreter_settings
from sdyopt.driver.job import Job, Outcome
from sdyopt.driver.split import check_text, decode, split
from sdyopt.pipeline.timing import TimingRecorder

if TYPE_CHECKING:  # imported only for reports, because importing rich is slow
    from sdyopt.driver.reporting import Reporting


def run_job(job: Job) -> Outcome:
    """Runs a job. Errors in the input are reported, not raised."""
    with interpreter_settings(), separate_run():
        return _JobRun(job).run()


class _JobRun:
    def __init__(self, job: Job) -> None:
        self._job = job
        self._dialects = dialect_table(job.mesh_version)
        self._pipeline = job.pipeline.merged()
        self._timing = TimingRecorder() if job.timing else None
        self._source = Source(job.name, "")
        self._reporting: Reporting | None = None

    def run(self) -> Outcome:
        job = self._job
        with handling(self._show):
            try:
                with identified(INPUT_ERROR):
                    self._source = decode(job.name, job.data)
                    check_text(self._source)
                chunks = list(split(self._source, job.split_marker))
                self._reporting = self._start_reporting(len(chunks))
            except DiagnosticError as error:
                emit(error.diagnostic)
                return Outcome(False, "")
            except UsageError as error:
                emit(_usage_problem(error))
                return Outcome(False, "")
        if job.verify_diagnostics:
            expected = ExpectedDiagnostics(
                self._source, self._show, job.verify_diagnostics == "only-expected"
            )
            with handling(expected.handle):
                outputs = [self._run_chunk(chunk) for chunk in chunks]
            # Success depends on the diagnostics alone, not on whether passes failed.
            succeeded = expected.finish()
        else:
            with handling(self._show_with_operation if job.print_op_on_diagnostic else self._show):
                outputs = [self._run_chunk(chunk) for chunk in chunks]
            succeeded = None not in outputs
        self._report_statistics_and_timing()
        text = f"{job.output_split_marker}\n".join(output or "" for output in outputs)
        if self._reporting is None:
            return Outcome(succeeded, text)
        if not job.verify_diagnostics:
            succeeded &= self._reporting.is_within_limits
        return Outcome(succeeded, text, "\n".join(self._reporting.texts))

    def _start_reporting(self, chunk_count: int) -> Reporting | None:
        """Reads the budget and the baseline. Raises DiagnosticError for an invalid one."""
        options = self._job.report_options
        if not options.is_needed:
            return None
        if options.path and chunk_count > 1:
            raise UsageError(
                "--report=FILE cannot be used with several chunks of input",
                "print a report for each chunk with --report",
            )
        from sdyopt.driver.reporting import Reporting

        return Reporting(self._job)

    def _run_chunk(self, chunk: Source) -> str | None:
        """The output of a chunk; None if it failed, in which case the errors are emitted."""
        report = None if self._reporting is None else self._reporting.add
        try:
            return ChunkRun(self._job, chunk, self._dialects, self._timing, report).run(self._pipeline)
        except ChunkFailed:
            return None
        except DiagnosticError as error:
            problem = error.diagnostic
        except UsageError as error:
            problem = _usage_problem(error)
        except (RecursionError, MemoryError) as error:
            problem = resource_error(chunk, error)
        emit(problem)
        return None

    # --- Reports --------------------------------------------------------------------------

    def _show(self, diagnostic: Diagnostic) -> None:
        self._job.report(render(diagnostic, self._source, self._job.paint))

    def _show_with_operation(self, diagnostic: Diagnostic) -> None:
        """Shows a diagnostic with its operation in the first note."""
        if diagnostic.operation is not None:
            text = print_for_note(diagnostic.operation, generic=not diagnostic.in_custom_syntax)
            message = text if diagnostic.in_custom_syntax else f"see current operation: {text}"
            diagnostic.notes.insert(0, Diagnostic(Severity.NOTE, diagnostic.location, message))
        self._show(diagnostic)

    def _report_statistics_and_timing(self) -> None:
        job = self._job
        if job.statistics:
            from sdyopt.report.statistics import statistics_report

            job.report(statistics_report(self._pipeline, job.statistics == "list"))
        if self._timing is not None:
            from sdyopt.report.timing import timing_report

            job.report(timing_report(self._timing.finish(), job.timing == "list", job.timing_as_json))


def _usage_problem(error: UsageError) -> Diagnostic:
    return Diagnostic(Severity.ERROR, UnknownLoc(), error.message, help=error.help, id=USAGE_ERROR)
