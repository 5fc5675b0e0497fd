"""The description of a run (`Job`), its analyses, and its result (`JobOutcome`)."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from threading import Lock
from typing import Any

from sdyopt.analysis.interface import Analysis, AnalysisOptions, Program
from sdyopt.base.dataclasses import dataclass, field
from sdyopt.base.diagnostics.diagnostic import Diagnostic, DiagnosticError
from sdyopt.base.diagnostics.ids import USAGE_ERROR
from sdyopt.base.diagnostics.location import Source
from sdyopt.base.diagnostics.render import DEFAULT_COLUMNS, Paint, leave_plain
from sdyopt.base.diagnostics.usage import UsageError
from sdyopt.mlir.asm.parser.module_parser import ParseOptions
from sdyopt.mlir.asm.printer.asm_printer import PrintOptions
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline.instrumentation import IRPrintingOptions
from sdyopt.mlir.pipeline.tree import Pipeline

SPLIT_MARKER = "// -----"

# The columns of text for a stdout that is not known.
DEFAULT_WIDTH = 80
# The lines of an operation in a diagnostic for a person.
TERMINAL_OP_LINES = 3


# The newest version of the bytecode format that is written.
NEWEST_BYTECODE = 6


def discard_text(*_: str) -> None:
    """Ignores its arguments."""


class JobFailed(Exception):
    """A program that the job needs is invalid; the errors are already reported."""


@dataclass(frozen=True)
class BytecodeRequest:
    """Bytecode instead of text, in a version of the format.

    With a `target`, a version of StableHLO such as "1.0.0", it is a portable artifact.
    """

    version: int
    elides_resources: bool = False
    target: str = ""


@dataclass(frozen=True)
class Job:
    """An input and the options of a run.

    `read` returns the input. It is called once, so that the bytes can be freed when they are decoded.
    `write_log` receives the text for stderr: diagnostics, IR dumps, timing, statistics, the dumped pipeline.
    `write_file` receives additional output files as (path, text).
    """

    name: str
    read: Callable[[], bytes] = bytes
    pipeline: Pipeline = field(default_factory=Pipeline)
    write_log: Callable[[str], None] = discard_text
    write_file: Callable[[str, str], None] = discard_text
    paint: Paint = leave_plain
    # The maximum width of excerpts in diagnostics.
    columns: int = DEFAULT_COLUMNS
    # Whether help is folded to this width, as for a terminal.
    folds_help: bool = False
    # The maximum number of lines of the operation in a note; 0 for no limit.
    max_op_lines: int = 0
    # Receives each diagnostic that is shown, the input, and whether `werror` makes it an error.
    collect: Callable[[Diagnostic, Source, bool], None] | None = None
    # Whether diagnostics are reported as text.
    shows_text: bool = True
    # Whether warnings are errors.
    werror: bool = False
    # The least severe diagnostics that are shown: "errors", "warnings" or "remarks".
    verbosity: str = "remarks"
    hides_notes: bool = False
    # Whether diagnostics are shown with a stack trace.
    shows_trace: bool = False

    # The input is not split if the marker is empty.
    split_marker: str = ""
    output_split_marker: str = SPLIT_MARKER
    allow_unregistered_dialects: bool = False
    # The LLVM release whose mesh dialect is used: 19, 21 or 22.
    mesh_version: int = 19

    # Whether a program that is not a single module becomes the body of one.
    implicit_module: bool = True
    # Whether the pipeline runs on its anchor only. Otherwise it is adapted to the top-level operation.
    is_anchored: bool = False
    dump_pipeline: bool = False
    # Whether the program is verified after each pass; None: once, after the last.
    verify_each: bool | None = None
    verify_roundtrip: bool = False
    # Whether the program is verified before the passes.
    verifies_input: bool = True
    # "" (off), "all" or "only-expected".
    verify_diagnostics: str = ""
    print_op_on_diagnostic: bool = True

    # Whether the program is printed after the pipeline.
    prints_output: bool = True
    bytecode: BytecodeRequest | None = None
    print_options: PrintOptions = field(default_factory=PrintOptions)
    ir_printing: IRPrintingOptions = field(default_factory=IRPrintingOptions)
    # Whether operations are not verified before they are printed.
    assume_verified: bool = False
    # How many passes run, -1 for all, with a line in the log for each; None for all, without these lines.
    bisect_limit: int | None = None
    # The settings of debug counters, None without any, and whether the counters are printed.
    debug_counters: Mapping[str, int] | None = None
    prints_debug_counters: bool = False
    # Receives the log of actions.
    log_action: Callable[[str], None] | None = None

    # "" (off), "tree" or "list".
    timing: str = ""
    timing_as_json: bool = False
    # "" (off), "pipeline" or "list".
    statistics: str = ""

    # The analyses of the program, in their order; see `analysis.interface`.
    analyses: tuple[AnalysisOptions, ...] = ()
    # The columns of stdout.
    width: int = DEFAULT_WIDTH

    # Warnings about the options, shown before the input is parsed.
    warnings: tuple[Diagnostic, ...] = ()

    # Returns the output for the program, instead of the printed program.
    show: Callable[[Op], str] | None = None

    run_reproducer: bool = False
    # The file of the reproducer of a pipeline that fails; "" for none.
    crash_reproducer: str = ""
    # Whether it contains only the pass that failed, and the program before this pass.
    local_reproducer: bool = False
    # The file of the reproducer that is written before the pipeline runs; "" for none.
    reproducer: str = ""

    @property
    def parse_options(self) -> ParseOptions:
        """The options by which the input is parsed."""
        return ParseOptions(
            allow_unregistered_dialects=self.allow_unregistered_dialects, implicit_module=self.implicit_module
        )

    @property
    def hides_unchanged(self) -> bool:
        """Whether a program on which no named pass ran is only printed with -o."""
        return any(analysis.hides_unchanged for analysis in self.analyses)

    @property
    def replaces_output(self) -> bool:
        """Whether stdout has the texts of analyses instead of the program."""
        return any(analysis.replaces_output for analysis in self.analyses)


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """The result of a job: whether it succeeded, the pages of its output, and the reports for stdout.

    With `verify_diagnostics`, a job succeeds if the diagnostics are the expected ones. One that fails
    `is_usage_error` if the command names what the program does not have.
    """

    succeeded: bool
    pages: tuple[str, ...]
    reports: str = ""
    is_usage_error: bool = False

    @property
    def output(self) -> str:
        return "".join(self.pages)


# Sufficient for programs nested as deeply as the parser accepts.
RECURSION_LIMIT = 10_000


class _InterpreterSettings:
    """The settings of the interpreter, which all threads share: the last run that ends restores them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._runs = 0
        self._saved = (True, 0, 0)

    def enter(self) -> None:
        with self._lock:
            self._runs += 1
            if self._runs > 1:
                return
            limit = sys.getrecursionlimit()
            self._saved = gc.isenabled(), limit, sys.get_int_max_str_digits()
            gc.disable()
            sys.setrecursionlimit(max(limit, RECURSION_LIMIT))
            # The parser limits the number of digits that it reads; a folded constant may have more.
            sys.set_int_max_str_digits(0)

    def leave(self) -> None:
        with self._lock:
            self._runs -= 1
            if self._runs:
                return
            was_enabled, limit, digits = self._saved
            sys.set_int_max_str_digits(digits)
            sys.setrecursionlimit(limit)
            if was_enabled:
                gc.enable()


_settings = _InterpreterSettings()


@contextmanager
def interpreter_settings() -> Iterator[None]:
    """Raises the recursion limit, lifts the limit on digits, and disables cyclic garbage collection.

    Few of the many objects of a run become garbage before its end.
    """
    _settings.enter()
    try:
        yield
    finally:
        _settings.leave()


# Times a phase of this name in a `with` block.
Phase = Callable[[str], AbstractContextManager[None]]


class AnalysedRun:
    """Implements `Run` of the interface for a job. `run_job` runs the job of another program."""

    def __init__(
        self,
        job: Job,
        source: Source,
        chunks: Sequence[Source],
        dialects: DialectTable,
        run_job: Callable[[Job], JobOutcome],
    ) -> None:
        self.name, self.pipeline, self.width, self.write_file = (
            job.name,
            job.pipeline,
            job.width,
            job.write_file,
        )
        self.source, self.dialects, self.parse_options = source, dialects, job.parse_options
        self._job = job
        self._chunks = chunks
        self._run_job = run_job

    def check_is_one_chunk(self, other: str, help: str) -> None:
        """Raises DiagnosticError if the input has several chunks."""
        chunks = self._chunks
        if len(chunks) > 1:
            message = f"the input has {len(chunks)} chunks, and {other}"
            error = DiagnosticError.at(chunks[1].location(0), message)
            error.diagnostic.id = USAGE_ERROR
            raise error.help(help)

    def run_other(self, name: str, data: bytes, pipeline: Pipeline, analysis: AnalysisOptions) -> None:
        """Runs a job like this one on another program, but shows only errors, and prints nothing."""
        job = self._job
        other = Job(
            name,
            lambda: data,
            pipeline,
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
            analyses=(analysis,),
        )
        if not self._run_job(other).succeeded:
            raise JobFailed


class Analyses:
    """The analyses of a job. The constructor raises DiagnosticError, UsageError and JobFailed."""

    def __init__(self, run: AnalysedRun, options: Sequence[AnalysisOptions]) -> None:
        self._all: list[Analysis[Any]] = [option.start(run) for option in options]

    @property
    def are_passed(self) -> bool:
        """Whether no check rejects a program."""
        return all(analysis.is_passed for analysis in self._all)

    @property
    def texts(self) -> list[str]:
        """The text for stdout."""
        return [text for analysis in self._all for text in analysis.texts]

    def on_input(self, program: Program) -> None:
        """The program has been parsed and verified."""
        for analysis in self._all:
            analysis.on_input(program)

    def prepare(self, program: Program) -> None:
        """Keeps the program before the passes, if that is needed. Raises UsageError unless it is a module."""
        for analysis in self._all:
            [flag, *_] = analysis.options.flags() or [None]
            if analysis.options.needs_module and not isinstance(program.op, ModuleOp):
                raise UsageError(
                    f"the --{flag and flag.name} option runs on a module", "remove --no-implicit-module"
                )
        # Without given passes, some analyses read the program as it is, and others after assumed passes.
        are_mixed = bool(program.assumption) and not all(
            analysis.options.needs_collectives for analysis in self._all
        )
        if are_mixed or any(analysis.options.needs_before for analysis in self._all):
            program.before = Rewriter().clone(program.op) if program.pipeline.elements else program.op

    @property
    def need_passes(self) -> bool:
        """Whether an analysis reads the result of the passes."""
        return any(
            getattr(type(analysis), hook) is not getattr(Analysis, hook)
            for analysis in self._all
            for hook in ("around_passes", "run_passes", "on_result", "on_output")
        )

    @property
    def need_collectives(self) -> bool:
        """Whether passes are to insert collectives if none are given."""
        return any(analysis.options.needs_collectives for analysis in self._all)

    @property
    def compiler(self) -> str:
        """The compiler of the machine that figures are for; "" if it is unknown."""
        return next(filter(None, (analysis.compiler for analysis in self._all)), "")

    def around_passes(self, program: Program) -> AbstractContextManager[object]:
        """The context in which passes run."""
        stack = ExitStack()
        for analysis in self._all:
            stack.enter_context(analysis.around_passes(program))
        return stack

    def before_passes(self, program: Program, phase: Phase) -> None:
        """The passes are to run."""
        for analysis in self._all:
            if type(analysis).before_passes is not Analysis.before_passes:
                with phase(analysis.phase):
                    analysis.before_passes(program)

    def run_passes(self, program: Program) -> Op | None:
        """The program after passes that an analysis runs; None if none does."""
        results = (analysis.run_passes(program) for analysis in self._all)
        return next((op for op in results if op is not None), None)

    def partitioned(self, program: Program) -> Op | None:
        """The program after the assumed passes, if an analysis runs them on a copy and none records them."""
        if any(
            analysis.options.needs_parse_record
            or type(analysis).around_passes is not Analysis.around_passes
            or type(analysis).run_passes is not Analysis.run_passes
            for analysis in self._all
        ):
            return None
        results = (analysis.partitioned(program) for analysis in self._all)
        return next((op for op in results if op is not None), None)

    def on_result(self, program: Program, phase: Phase) -> None:
        """The passes have run."""
        for analysis in self._all:
            if type(analysis).on_result is not Analysis.on_result:
                with phase(analysis.phase):
                    analysis.on_result(program)

    def on_output(self, program: Program, phase: Phase) -> None:
        """The program has been printed."""
        for analysis in self._all:
            if type(analysis).on_output is not Analysis.on_output:
                with phase(analysis.phase):
                    analysis.on_output(program)

    def on_end(self) -> None:
        """All programs are done."""
        for analysis in self._all:
            analysis.on_end()
