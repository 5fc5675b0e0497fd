"""The description of a run (`Job`) and its result (`JobOutcome`)."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock

from sdyopt.analysis.interface import AnalysisOptions
from sdyopt.base.dataclasses import dataclass, field
from sdyopt.base.diagnostics.diagnostic import Diagnostic
from sdyopt.base.diagnostics.location import Source
from sdyopt.base.diagnostics.render import DEFAULT_COLUMNS, Paint, leave_plain
from sdyopt.mlir.asm.parser.module_parser import ParseOptions
from sdyopt.mlir.asm.printer.asm_printer import PrintOptions
from sdyopt.mlir.ir.operation import Op
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
