"""Processes a chunk of the input: parse, verify, run the pipeline, print."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from sdyopt.asm.parser.module_parser import ParseOptions, parse_module
from sdyopt.asm.parser.resources import Resources
from sdyopt.asm.printer.asm_printer import print_for_note, print_op
from sdyopt.asm.printer.attribute_printer import AttributePrinter
from sdyopt.asm.printer.resource_printer import resource_section
from sdyopt.diagnostics.diagnostic import Diagnostic, DiagnosticError, Severity, emit
from sdyopt.diagnostics.ids import (
    PARSE_ERROR,
    REPRODUCER,
    RESOURCE_LIMIT,
    ROUNDTRIP,
    VERIFY_ERROR,
    identified,
    identify,
)
from sdyopt.diagnostics.source import Source
from sdyopt.driver.job import Job
from sdyopt.driver.reproducer import (
    Groups,
    Reproducer,
    detach_reproducer,
    reproducer_group,
    with_external_resources,
)
from sdyopt.driver.roundtrip import verify_roundtrip
from sdyopt.ir.dialect import DialectTable
from sdyopt.ir.operation import Op
from sdyopt.ir.verify import Verifier
from sdyopt.ir.verify_incremental import IncrementalVerifier
from sdyopt.pipeline.base import Pass
from sdyopt.pipeline.ir_printing import IRPrinter
from sdyopt.pipeline.run import Instrument, run_pipeline
from sdyopt.pipeline.text import parse_pipeline
from sdyopt.pipeline.timing import TimingRecorder
from sdyopt.pipeline.tree import Pipeline
from sdyopt.registry import lookup


class ChunkFailed(Exception):
    """Processing of the chunk failed; the errors are already emitted."""


class ChunkRun:
    """Processes one chunk. Emits diagnostics to the handler of the caller."""

    def __init__(
        self,
        job: Job,
        source: Source,
        dialects: DialectTable,
        timing: TimingRecorder | None,
        report: Callable[[Op, Callable[[], str]], None] | None = None,
    ) -> None:
        self._job = job
        self._source = source
        self._dialects = dialects
        self._timing = timing
        self._report = report
        self._parse_options = ParseOptions(allow_unregistered_dialects=job.allow_unregistered_dialects)
        self._verifier = Verifier(dialects, AttributePrinter().type, print_for_note)
        self._resources = Resources()

    def run(self, pipeline: Pipeline) -> str:
        """Runs a pipeline, or that of a reproducer, and returns the printed program, if the job prints it.

        Raises ChunkFailed or DiagnosticError.
        """
        job = self._job
        with self._phase("Parser"):
            op, reproducer = self._parse()
        if job.verify_roundtrip:
            with identified(ROUNDTRIP):
                verify_roundtrip(op, self._resources, self._dialects, self._parse_options)
        verify_each = job.verify_each
        if reproducer.pipeline is not None:
            pipeline = parse_pipeline(reproducer.pipeline, lookup).merged()
        if reproducer.verify_each is not None:
            verify_each = reproducer.verify_each
        self._transform(op, pipeline, verify_each)
        if not (job.prints_output or self._report):
            return ""
        with self._phase("Output"):
            text = self._print(op, self._resources.external, is_verified=verify_each) + "\n"
        if self._report is not None:
            with self._phase("Report"):
                self._report(op, lambda: text)
        return text

    def _parse(self) -> tuple[Op, Reproducer]:
        with identified(PARSE_ERROR):
            op, resources = parse_module(self._source, self._dialects, self._parse_options)
        with identified(VERIFY_ERROR):
            is_valid = self._verifier.verify(op)
        if not is_valid:
            raise ChunkFailed
        reproducer = detach_reproducer(resources) if self._job.run_reproducer else Reproducer()
        self._resources = resources
        return op, reproducer

    def _transform(self, op: Op, pipeline: Pipeline, verify_each: bool) -> None:
        job = self._job
        group = self._resources.external | reproducer_group(pipeline, verify_each)
        if job.reproducer:
            job.write_file(job.reproducer, self._print(op, group))
        if not pipeline.elements:
            return
        before = self._print(op, group) if job.crash_reproducer else ""
        last_pass = _LastPass()
        instruments = [last_pass, *self._instruments()]
        succeeded = False
        try:
            verify = IncrementalVerifier(self._verifier) if verify_each else None
            succeeded = run_pipeline(pipeline, op, verify, instruments)
        finally:
            # Also when a pass raises an unexpected exception.
            if job.crash_reproducer and not succeeded:
                job.write_file(job.crash_reproducer, before)
                self._report_crash_reproducer(op, last_pass)
        if not succeeded:
            raise ChunkFailed

    def _instruments(self) -> Iterator[Instrument]:
        job = self._job
        if self._timing is not None:
            yield self._timing
        if job.ir_printing.is_needed:
            yield IRPrinter(job.ir_printing, self._print, job.report, job.write_file)

    def _report_crash_reproducer(self, op: Op, last_pass: _LastPass) -> None:
        error = DiagnosticError.at(
            op.location, "Failures have been detected while processing an MLIR pass pipeline"
        )
        error.note(
            f"Pipeline failed while executing [{last_pass.description}]: "
            f"reproducer generated at `{self._job.crash_reproducer}`"
        )
        identify(error.diagnostic, REPRODUCER, last_pass.flag)
        emit(error.diagnostic)

    def _print(self, op: Op, external: Groups | None = None, is_verified: bool = False) -> str:
        options = self._job.print_options
        if not (is_verified or options.generic or self._verifier.is_valid(op)):
            # Custom assembly formats cannot print all invalid operations.
            options = replace(options, generic=True)
        text = print_op(op, options)
        text += resource_section(op, self._resources, options.elide_resources_larger_than)
        return with_external_resources(text, external or {})

    def _phase(self, name: str) -> AbstractContextManager[None]:
        return nullcontext() if self._timing is None else self._timing.phase(name)


class _LastPass(Instrument):
    """Records which pass ran last, and on which operation."""

    def __init__(self) -> None:
        self.description = self.flag = ""

    def before_pass(self, pass_: Pass, op: Op) -> None:
        self.flag = pass_.flag
        self.description = f"`{pass_.label()}` on '{op.signature.name}' operation"


def resource_error(source: Source, problem: RecursionError | MemoryError) -> Diagnostic:
    """The error for a program that exceeds the recursion limit or the available memory."""
    is_too_deep = isinstance(problem, RecursionError)
    message = "the program is nested too deeply" if is_too_deep else "out of memory"
    return Diagnostic(Severity.ERROR, source.location(0), message, id=RESOURCE_LIMIT)
