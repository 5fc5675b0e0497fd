"""Runs a job: processes each chunk, and shows or verifies its diagnostics."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

from sdyopt.base.dataclasses import replace
from sdyopt.base.diagnostics.diagnostic import (
    Diagnostic,
    DiagnosticError,
    Severity,
    emit,
    handling,
    recording_traces,
    separate_run,
)
from sdyopt.base.diagnostics.ids import (
    INPUT_ERROR,
    NOT_VALIDATED,
    PARSE_ERROR,
    PASS_NOT_RUN,
    USAGE_ERROR,
    identified,
)
from sdyopt.base.diagnostics.location import Source, UnknownLoc
from sdyopt.base.diagnostics.usage import UsageError
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.pipeline.instrumentation import TimingRecorder, statistics_report, timing_report
from sdyopt.mlir.registry import dialect_table, find_entry, using_dialects
from sdyopt.tools.driver.chunk import ChunkFailed, ChunkRun, Pages, resource_error
from sdyopt.tools.driver.display import DiagnosticDisplay
from sdyopt.tools.driver.job import AnalysedRun, Analyses, Job, JobFailed, JobOutcome, interpreter_settings
from sdyopt.tools.driver.split import as_text, check_text, decode, split


def run_job(job: Job) -> JobOutcome:
    """Runs a job. Errors in the input are reported, not raised."""
    traces = recording_traces() if job.shows_trace else nullcontext()
    dialects = dialect_table(job.mesh_version)
    with interpreter_settings(), separate_run(), using_dialects(dialects), traces:
        return _JobRun(job, dialects).run()


class _JobRun:
    def __init__(self, job: Job, dialects: DialectTable) -> None:
        self._job = job
        self._dialects = dialects
        self._pipeline = job.pipeline.merged()
        # The pipeline that ran on the last chunk that did not fail; it may be that of a reproducer.
        self._last_pipeline = self._pipeline
        # The flags of the passes that ran; collected only if passes dump the IR.
        self._ran: set[str] = set()
        self._timing = TimingRecorder() if job.timing else None
        self._display = DiagnosticDisplay(job, self._dialects)
        self._analyses: Analyses

    def run(self) -> JobOutcome:
        job, show = self._job, self._display.show
        if not job.verify_diagnostics:
            for warning in job.warnings:
                show(warning)
        with handling(show):
            try:
                with identified(INPUT_ERROR):
                    source = self._display.source = decode(job.name, job.read())
                    check_text(source)
                if job.analyses:
                    # They show values by their names in the text.
                    with identified(PARSE_ERROR):
                        source = as_text(source, self._dialects, job.parse_options)
                    self._display.source = source
                chunks = list(split(source, job.split_marker))
                run = AnalysedRun(job, source, chunks, self._dialects, run_job)
                self._analyses = Analyses(run, job.analyses)
            except DiagnosticError as error:
                emit(error.diagnostic)
                return JobOutcome(False, ())
            except JobFailed:
                return JobOutcome(False, ())
            except UsageError as error:
                emit(_usage_problem(error))
                return JobOutcome(False, ())
        if job.verify_diagnostics:
            from sdyopt.base.diagnostics.expected import ExpectedDiagnostics

            expected = ExpectedDiagnostics(show, job.verify_diagnostics == "only-expected")
            outputs = []
            for chunk in chunks:
                expected.start_chunk(chunk)
                with handling(expected.handle):
                    outputs.append(self._run_chunk(chunk))
                expected.finish_chunk()
            # Success depends on the diagnostics alone, not on whether passes failed.
            succeeded = not expected.failed
        else:
            with handling(show):
                outputs = self._run_chunks(chunks)
            succeeded = None not in outputs and not self._display.promoted
        self._report_statistics_and_timing()
        with handling(show):
            self._analyses.on_end()
        if not job.verify_diagnostics:
            succeeded &= self._analyses.are_passed
        reports = "\n".join(self._analyses.texts)
        pages = _pages(outputs, f"{job.output_split_marker}\n")
        return JobOutcome(succeeded, pages, reports, self._display.has_usage_error)

    def _run_chunks(self, chunks: Sequence[Source]) -> list[Pages | None]:
        """The outputs of the chunks; None for all if --werror makes a warning about options an error."""
        is_rejected = self._display.promoted > 0
        outputs = [self._run_chunk(chunk) for chunk in chunks]
        if None not in outputs:
            self._warn_of_passes_that_did_not_run()
            is_rejected |= self._display.promoted > 0
        return [None for _ in chunks] if is_rejected else outputs

    def _run_chunk(self, chunk: Source) -> Pages | None:
        """The output of a chunk; None if it failed, in which case the errors are emitted."""
        promoted_before = self._display.promoted
        self._display.start_chunk(chunk)
        run = ChunkRun(self._job, chunk, self._dialects, self._timing, self._analyses, self._display)
        try:
            output = run.run(self._pipeline)
            self._last_pipeline = run.pipeline
            self._ran |= run.ran
            return output if self._display.promoted == promoted_before else None
        except ChunkFailed:
            return None
        except DiagnosticError as error:
            problem = error.diagnostic
            if isinstance(problem.location, UnknownLoc) and problem.id in (USAGE_ERROR, NOT_VALIDATED):
                # It is about the program as a whole, which has no location in text that JAX prints.
                problem = replace(problem, location=chunk.location(chunk.text.find("\nmodule ") + 1))
        except UsageError as error:
            problem = _usage_problem(error)
        except (RecursionError, MemoryError) as error:
            problem = resource_error(chunk, error)
        except Exception:
            if not run.explain_failure():
                raise
            return None
        emit(problem)
        return None

    def _warn_of_passes_that_did_not_run(self) -> None:
        options = self._job.ir_printing
        for flags, option in ((options.before, "before"), (options.after, "after")):
            for flag in sorted((flags or frozenset()) - self._ran):
                message = f"for the --mlir-print-ir-{option} option: pass '{flag}' did not run"
                entry = find_entry(flag)
                help = (
                    "--dump-pass-pipeline prints the passes that run"
                    if entry is None or entry.is_pass
                    else f"'{flag}' is a pipeline; name one of its passes, which --dump-pass-pipeline prints"
                )
                emit(Diagnostic(Severity.WARNING, UnknownLoc(), message, help=help, id=PASS_NOT_RUN))

    # --- Reports --------------------------------------------------------------------------

    def _report_statistics_and_timing(self) -> None:
        job = self._job
        if job.statistics:
            job.write_log(statistics_report(self._last_pipeline, job.statistics == "list"))
        if self._timing is not None:
            job.write_log(timing_report(self._timing.finish(), job.timing == "list", job.timing_as_json))


def _pages(outputs: Sequence[Pages | None], separator: str) -> tuple[str, ...]:
    """The outputs of all chunks, with a separator between them."""
    pages: list[str] = []
    for number, output in enumerate(outputs):
        if number:
            pages.append(separator)
        pages += output or ()
    return tuple(pages)


def _usage_problem(error: UsageError) -> Diagnostic:
    return Diagnostic(Severity.ERROR, UnknownLoc(), error.message, help=error.help, id=USAGE_ERROR)
