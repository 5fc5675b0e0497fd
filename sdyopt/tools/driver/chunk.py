"""Processes a chunk of the input: parse, verify, run the pipeline, print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from itertools import zip_longest

from sdyopt.analysis.interface import Program
from sdyopt.base.dataclasses import replace
from sdyopt.base.diagnostics.diagnostic import (
    Diagnostic,
    DiagnosticError,
    Severity,
    emit,
    handling,
    mark_occurrences,
)
from sdyopt.base.diagnostics.ids import (
    FLAG_WITHOUT_EFFECT,
    PARSE_ERROR,
    RESOURCE_LIMIT,
    ROUNDTRIP,
    VERIFY_ERROR,
    identified,
)
from sdyopt.base.diagnostics.location import Source, UnknownLoc
from sdyopt.base.diagnostics.usage import UsageError
from sdyopt.mlir.asm.parser.module_parser import ParseOptions, parse_module
from sdyopt.mlir.asm.parser.ssa_scope import ParseRecord
from sdyopt.mlir.asm.printer.asm_printer import PrintOptions, print_for_note, print_op, print_pages
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.asm.resources import Resources, resource_section
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import limiting_actions, observing_actions
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.verify import Verifier
from sdyopt.mlir.pipeline.instrumentation import ActionLog, IRPrinter, TimingRecorder
from sdyopt.mlir.pipeline.run import DebugCounters, Instrument, OptBisect, run_and_verify, run_pipeline
from sdyopt.mlir.pipeline.tree import Pipeline, parse_pipeline
from sdyopt.mlir.registry import lookup
from sdyopt.tools.driver.display import DiagnosticDisplay
from sdyopt.tools.driver.job import Analyses, BytecodeRequest, Job
from sdyopt.tools.driver.reproducer import (
    CrashReproducer,
    Groups,
    LocalReproducer,
    Reproducer,
    detach_reproducer,
    reproducer_group,
    with_external_resources,
)
from sdyopt.tools.driver.split import parse_source

# A text in parts.
Pages = Sequence[str]

_OF_UNVERIFIED = "with --{}, what runs later gets this invalid program, and may fail"
_OF_NOTHING = "sdy-opt reads what jax.jit(f).lower(*arguments).as_text(debug_info=True) returns"
_OF_PYTHON = (
    "this is Python: write what jax.jit(f).lower(*arguments).as_text(debug_info=True) returns to a file"
)
_IN_PYTHON = "sdyopt.check(jax.jit(f), *arguments) does that, and prints the check"


class ChunkFailed(Exception):
    """Processing of the chunk failed; the errors are already emitted."""


class ChunkRun:
    """Processes one chunk. Diagnostics are emitted."""

    def __init__(
        self,
        job: Job,
        source: Source,
        dialects: DialectTable,
        timing: TimingRecorder | None,
        analyses: Analyses,
        display: DiagnosticDisplay,
    ) -> None:
        self._job = job
        self._source = source
        self._dialects = dialects
        self._timing = timing
        self._analyses = analyses
        self._display = display
        self._parse_options = job.parse_options
        self._verifier = Verifier(dialects, plain_type, print_for_note)
        self._resources = Resources()
        is_recorded = any(analysis.needs_parse_record for analysis in job.analyses)
        self._parse_record = ParseRecord() if is_recorded else None
        self.pipeline = job.pipeline
        # The flags of the passes that ran; collected only if passes dump the IR.
        self.ran: set[str] = set()
        self._is_unverified = False

    def run(self, pipeline: Pipeline) -> Pages:
        """Runs the pipeline of the job, or that of a reproducer. Returns the output; empty if none is needed.

        `pipeline` is the merged pipeline of the job; `self.pipeline` becomes the one that runs. Raises
        ChunkFailed, DiagnosticError, or UsageError for a pipeline that cannot run on the program.
        """
        job = self._job
        with self._phase("Parser"):
            op, reproducer = self._parse()

        @cache
        def pages() -> Pages:
            return self._printed(program.op, not self._is_unverified)

        program = Program(
            op,
            self._source,
            self._dialects,
            self._parse_options,
            text=lambda: "".join(pages()),
            verify=self._verifier,
            pipeline=self.pipeline,
            parse_record=self._parse_record,
        )
        self._analyses.on_input(program)
        if job.verify_roundtrip:
            with identified(ROUNDTRIP):
                verify_roundtrip(op, self._resources, self._dialects, self._parse_options)
        verify_each = job.verify_each
        if reproducer.verify_each is not None:
            verify_each = reproducer.verify_each
        self._is_unverified = verify_each is False or not job.verifies_input
        written = self._written_pipeline(op, reproducer)
        if not written.elements and not job.run_reproducer and self._analyses.need_collectives:
            from sdyopt.analysis.figures.assumed_pipeline import assumed_pipeline, remark_on_lines

            program.assumption, written = assumed_pipeline(op, self._analyses.compiler)
            program.shared(remark_on_lines)
        if job.dump_pipeline:
            job.write_log(written.dump())
        # Chunks share one pipeline object where possible: times are summed by pipeline and pass object.
        self.pipeline = pipeline if written is job.pipeline else written.merged()
        program.pipeline = self.pipeline
        self._analyses.prepare(program)
        self._analyses.before_passes(program, self._phase)
        if program.printed is None or self._analyses.need_passes:
            if program.printed is op and job.prints_output:
                program.printed = Rewriter().clone(op)
            changed = self._analyses.run_passes(program)
            is_assumed = bool(program.assumption and self.pipeline.elements)
            if changed is None and is_assumed and not self._are_passes_observed(verify_each):
                changed = self._analyses.partitioned(program)
            if changed is None:
                with self._analyses.around_passes(program):
                    self._transform(op, self.pipeline, verify_each)
            else:
                program.op = changed
            self._analyses.on_result(program, self._phase)
            if job.show is not None:
                return (job.show(program.op),)
            if job.prints_output and job.bytecode is None and program.printed is None:
                pages()
            self._analyses.on_output(program, self._phase)
        if not job.prints_output:
            return ()
        printed = program.op if program.printed is None else program.printed
        if job.bytecode is not None:
            return (self._bytecode(printed, job.bytecode),)
        return pages() if printed is program.op else self._printed(printed, not self._is_unverified)

    def _printed(self, op: Op, is_verified: bool) -> Pages:
        with self._phase("Output"):
            return [*self._pages(op, self._resources.external, is_verified), "\n"]

    def _bytecode(self, op: Op, request: BytecodeRequest) -> str:
        """The bytecode of a program. Like other output, it is a text; each byte that is no UTF-8 is escaped.

        Raises DiagnosticError for a portable artifact that the target version cannot express.
        """
        from sdyopt.mlir.bytecode.writer import BytecodeOptions, artifact, write_bytecode

        with self._phase("Output"):
            if request.target:
                data = artifact(op, self._resources, request.target, request.elides_resources)
            else:
                options = BytecodeOptions(request.version, elides_resources=request.elides_resources)
                data = write_bytecode(op, self._resources, options)
        return data.decode("utf-8", "surrogateescape")

    def _written_pipeline(self, op: Op, reproducer: Reproducer) -> Pipeline:
        """The pipeline before merging: that of the reproducer, or that of the job.

        Unless the job is anchored, its pipeline is adapted to the top-level operation.
        """
        job = self._job
        if reproducer.pipeline is not None:
            return parse_pipeline(reproducer.pipeline, lookup)
        if job.is_anchored or op.signature.name == job.pipeline.anchor:
            return job.pipeline
        try:
            return job.pipeline.on(op.signature.name)
        except UsageError as error:
            raise UsageError(error.message, "remove --no-implicit-module") from None

    def _parse(self) -> tuple[Op, Reproducer]:
        with identified(PARSE_ERROR):
            if self._analyses.need_collectives and self._source.data is None:
                lines = map(str.strip, self._source.text.splitlines())
                if all(not line or line.startswith("//") for line in lines):
                    error = DiagnosticError.at(
                        self._source.location(0), "there is no program: the input is empty"
                    )
                    raise error.help(_OF_NOTHING)
            try:
                op, resources = parse_source(
                    self._source, self._dialects, self._parse_options, self._upgrades(), self._parse_record
                )
            except DiagnosticError:
                if self._source.name.endswith(".py"):
                    raise DiagnosticError.at(self._source.location(0), _OF_PYTHON).help(_IN_PYTHON) from None
                raise
        with identified(VERIFY_ERROR):
            is_valid = not self._job.verifies_input or self._verifier.verify(op)
        if not is_valid:
            raise ChunkFailed
        reproducer = detach_reproducer(resources) if self._job.run_reproducer else Reproducer()
        if self._job.run_reproducer and reproducer.pipeline is None:
            message = "the --run-reproducer option has no effect: the input contains no reproducer"
            help = "write one with --mlir-generate-reproducer"
            missing_reproducer = Diagnostic(
                Severity.WARNING, UnknownLoc(), message, help=help, id=FLAG_WITHOUT_EFFECT
            )
            emit(missing_reproducer)
        self._resources = resources
        return op, reproducer

    def _upgrades(self) -> bool:
        """Whether VHLO becomes StableHLO; passes on VHLO are asked for the program as it is."""
        return "vhlo-" not in self._job.pipeline.dump()

    def _transform(self, op: Op, pipeline: Pipeline, verify_each: bool | None) -> None:
        job = self._job

        def print_reproducer(program: Op, passes: Pipeline) -> str:
            group = reproducer_group(passes, verify_each is not False)
            return self._print(program, self._resources.external | group)

        if job.reproducer:
            job.write_file(job.reproducer, print_reproducer(op, pipeline))
        if not pipeline.elements:
            return
        reproducer = None
        if job.crash_reproducer:
            reproducer = (
                LocalReproducer(op, print_reproducer)
                if job.local_reproducer
                else CrashReproducer(op, pipeline, print_reproducer)
            )
        succeeded = False
        try:
            with self._observing_actions() as instruments, self._counting_actions(instruments):
                instruments += [] if reproducer is None else [reproducer]
                instruments += self._instruments()
                # What passes print shows the first one that leaves an invalid program.
                if verify_each is None and not instruments and not (job.verify_diagnostics or job.statistics):
                    succeeded = self._run_and_verify(pipeline, op)
                else:
                    verify = None if verify_each is False else self._verifier
                    succeeded = run_pipeline(pipeline, op, verify, [*instruments, *self._timers()])
        finally:
            # Also when a pass raises an unexpected exception.
            if reproducer is not None and not succeeded:
                job.write_file(job.crash_reproducer, reproducer.text())
                reproducer.emit_error(job.crash_reproducer)
        if not succeeded:
            raise ChunkFailed

    def explain_failure(self) -> bool:
        """Emits why an unexpected exception is no bug: without verification, a pass left an invalid program.

        The passes run again, with verification after each. False if that fails as well, or finds nothing.
        """
        if not self._is_unverified:
            return False
        errors: list[Diagnostic] = []
        try:
            with handling(errors.append):
                op, _ = parse_source(self._source, self._dialects, self._parse_options, self._upgrades())
                if self._verifier.verify(op) and run_pipeline(self.pipeline, op, self._verifier):
                    return False
        except Exception:
            return False
        flag = (
            "verify-each=false"
            if self._job.verifies_input
            else "mlir-very-unsafe-disable-verifier-on-parsing"
        )
        for error in errors:
            if error.severity is Severity.ERROR:
                emit(error if error.help else replace(error, help=_OF_UNVERIFIED.format(flag)))
        return True

    def _are_passes_observed(self, verify_each: bool | None) -> bool:
        """Whether anything but the result of the passes is needed."""
        job = self._job
        return bool(
            job.reproducer
            or job.crash_reproducer
            or job.log_action is not None
            or job.debug_counters is not None
            or job.bisect_limit is not None
            or job.ir_printing.is_needed
            or job.verify_diagnostics
            or job.statistics
            or self._timing is not None
            or verify_each is not None
        )

    def _run_and_verify(self, pipeline: Pipeline, op: Op) -> bool:
        """Runs a pipeline, and verifies the program after the last pass."""
        forget_occurrences = mark_occurrences()
        with self._display.holding() as forget_diagnostics:

            def restart() -> Op:
                forget_diagnostics()
                forget_occurrences()
                return parse_source(self._source, self._dialects, self._parse_options, self._upgrades())[0]

            return run_and_verify(pipeline, op, self._verifier, restart, self._timers())

    @contextmanager
    def _observing_actions(self) -> Iterator[list[Instrument]]:
        """Logs the actions in the `with` block, if the job has a log; yields the instrument for passes."""
        write = self._job.log_action
        if write is None:
            yield []
            return
        log = ActionLog(write, _short)
        with observing_actions(log.observe):
            yield [log]

    @contextmanager
    def _counting_actions(self, instruments: list[Instrument]) -> Iterator[None]:
        """Counts the actions in the `with` block, if the job has counters; adds the instrument for passes."""
        job = self._job
        if job.debug_counters is None:
            yield
            return
        counters = DebugCounters(job.debug_counters)
        instruments.append(counters)
        with limiting_actions(counters.executes):
            yield
        if job.prints_debug_counters:
            job.write_log(str(counters))

    def _instruments(self) -> Iterator[Instrument]:
        job = self._job
        if job.bisect_limit is not None:
            yield OptBisect(job.bisect_limit, job.write_log)
        if job.ir_printing.is_needed:
            yield IRPrinter(job.ir_printing, self._print, job.write_log, job.write_file, self.ran)

    def _timers(self) -> list[Instrument]:
        return [] if self._timing is None else [self._timing]

    def _print(self, op: Op, external: Groups | None = None) -> str:
        return "".join(self._pages(op, external or {}, is_verified=False))

    def _pages(self, op: Op, external: Groups, is_verified: bool) -> Pages:
        options = self._job.print_options
        is_verified |= self._job.assume_verified
        if not (is_verified or options.generic or self._verifier.is_valid(op)):
            # Some invalid operations cannot be printed in their custom assembly format.
            options = replace(options, generic=True)
        pages = print_pages(op, options)
        pages.append(resource_section(op, self._resources, options.elide_resources_larger_than))
        return [with_external_resources("".join(pages), external)] if any(external.values()) else pages

    def _phase(self, name: str) -> AbstractContextManager[None]:
        return nullcontext() if self._timing is None or not name else self._timing.phase(name)


def _short(op: Op) -> str:
    """An operation without its regions; one that has none is printed with the SSA names of its function."""
    if op.regions:
        return print_op(op, PrintOptions(skip_regions=True)).strip()
    return print_for_note(op, generic=False).strip()


def resource_error(source: Source, problem: RecursionError | MemoryError) -> Diagnostic:
    """The error for a program that exceeds the recursion limit or the available memory."""
    is_too_deep = isinstance(problem, RecursionError)
    message = "the program is nested too deeply" if is_too_deep else "out of memory"
    return Diagnostic(Severity.ERROR, source.location(0), message, id=RESOURCE_LIMIT)


# Only the generic syntax represents a program completely: `reduce … applies` has no syntax for the locations
# in its region, and functions have none for empty attribute dictionaries. So locations are compared in the
# generic syntax only.
SYNTAXES = (PrintOptions(debuginfo=True, generic=True), PrintOptions())


def verify_roundtrip(op: Op, resources: Resources, dialects: DialectTable, options: ParseOptions) -> None:
    """Raises DiagnosticError if the printed program cannot be parsed, or is then printed differently."""
    for print_options in SYNTAXES:
        before = print_op(op, print_options) + resource_section(op, resources)
        try:
            reparsed, reparsed_resources = parse_module(Source("<roundtrip>", before), dialects, options)
        except DiagnosticError as error:
            problem = error.diagnostic
            raise op.op_error("failed to parse the printed program back, cannot verify round-trip").note(
                problem.message, problem.location
            ) from None
        after = print_op(reparsed, print_options) + resource_section(reparsed, reparsed_resources)
        if before != after:
            pairs = zip_longest(before.splitlines(), after.splitlines(), fillvalue="")
            number, (old, new) = next((i, pair) for i, pair in enumerate(pairs, 1) if pair[0] != pair[1])
            difference = op.op_error("roundTrip testing roundtripped module differs from reference").note(
                f"line {number} of the printed program:\n{old.strip()}\n  became\n{new.strip()}"
            )
            raise difference
