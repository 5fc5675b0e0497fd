"""Shows the diagnostics of a job as text, and passes them to the collector of a job with another format."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from sdyopt.base.dataclasses import replace
from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity
from sdyopt.base.diagnostics.ids import ADVICE, FLAG_WITHOUT_EFFECT, PASS_NOT_RUN, USAGE_ERROR, lint_rule
from sdyopt.base.diagnostics.location import Location, Source, UnknownLoc, resolve_file_location
from sdyopt.base.diagnostics.render import ELLIPSIS, render
from sdyopt.base.diagnostics.text import counted, printable
from sdyopt.base.diagnostics.whole_files import source_files
from sdyopt.mlir.asm.parser.module_parser import ParseOptions
from sdyopt.mlir.asm.printer.asm_printer import print_for_note
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.tools.driver.job import TERMINAL_OP_LINES, Job

if TYPE_CHECKING:  # imported on use
    from sdyopt.mlir.error_help.explainer import DiagnosticExplainer


# The suffix of a warning that --werror makes an error.
PROMOTED = " [--werror]"
OP_LINES_FLAG = "--max-diagnostic-op-lines"

# If the lines of operations are limited, so are messages: to MESSAGE_LINES lines of MESSAGE_ROWS rows each.
MESSAGE_LINES, MESSAGE_ROWS = 2, 4

# Shown like usage errors, without a location.
_ABOUT_FLAGS = (FLAG_WITHOUT_EFFECT, PASS_NOT_RUN)

# The severities that are not shown, by the verbosity.
_HIDDEN = {
    "errors": (Severity.WARNING, Severity.REMARK),
    "warnings": (Severity.REMARK,),
    "remarks": (),
}


class DiagnosticDisplay:
    """Shows diagnostics according to the options of a job.

    `promoted` counts the warnings that --werror made errors. `source` is the whole input. Once a chunk is
    started, diagnostics are explained from it. `has_usage_error`: an error was about the command.
    """

    def __init__(self, job: Job, dialects: DialectTable) -> None:
        self._job = job
        self._dialects = dialects
        self.source = Source(job.name, "")
        self.promoted = 0
        self.has_usage_error = False
        self._explainer: LazyExplainer | None = None
        self._files: dict[str, Source | None] = {}
        self._last_error: tuple[Location, Location | None] | None = None
        # The output of the diagnostics that are held back.
        self._held: list[Callable[[], None]] | None = None

    @contextmanager
    def holding(self) -> Iterator[Callable[[], None]]:
        """Shows the diagnostics of the `with` block at its end, but not those before a call of the result."""
        promoted, last_error = self.promoted, self._last_error
        held = self._held = []

        def forget() -> None:
            held.clear()
            self.promoted, self._last_error = promoted, last_error

        try:
            yield forget
        finally:
            self._held = None
            for output in held:
                output()

    def _output(self, write: Callable[[], None]) -> None:
        if self._held is None:
            write()
        else:
            self._held.append(write)

    def start_chunk(self, chunk: Source) -> None:
        """Explains the following diagnostics from this chunk."""
        self._explainer = LazyExplainer(chunk, self._dialects, self._job.parse_options)

    def show(self, diagnostic: Diagnostic) -> None:
        """Shows a diagnostic."""
        job = self._job
        self.has_usage_error |= diagnostic.id == USAGE_ERROR and diagnostic.severity is Severity.ERROR
        is_promoted = job.werror and diagnostic.severity is Severity.WARNING
        if is_promoted:
            self.promoted += 1
        elif diagnostic.severity in _HIDDEN[job.verbosity]:
            return
        if job.hides_notes:
            diagnostic = replace(diagnostic, notes=[])
        rule = lint_rule(diagnostic.id)
        # An unexpected diagnostic is shown as C++ does, but not without any position.
        is_explained = not job.verify_diagnostics or isinstance(diagnostic.location, UnknownLoc)
        if self._explainer is not None and is_explained and not rule:
            self._explainer.complete(diagnostic)
        if job.collect is not None:
            self._output(partial(job.collect, diagnostic, self.source, is_promoted))
        if not job.shows_text:
            return
        if rule:
            diagnostic = replace(diagnostic, message=f"{diagnostic.message} [{rule}]")
        if is_promoted:
            message = diagnostic.message + PROMOTED
            diagnostic = replace(diagnostic, severity=Severity.ERROR, message=message)
        if job.max_op_lines:
            diagnostic = _with_known_location(self._with_short_messages(diagnostic))
        if not job.hides_notes and not job.verify_diagnostics:
            if job.print_op_on_diagnostic and diagnostic.id not in ADVICE:
                diagnostic = self._with_operation(diagnostic)
            diagnostic = _with_trace(diagnostic)
        if diagnostic.id in _ABOUT_FLAGS:
            text = f"sdy-opt: {diagnostic.severity}: {diagnostic.message}\nhelp: {diagnostic.help}\n"
            self._output(partial(job.write_log, printable(text)))
            return
        if rule:
            diagnostic = self._with_python(diagnostic)
        source = None if self._repeats_excerpt(diagnostic) else self.source
        text = render(diagnostic, source, job.paint, job.columns, job.folds_help, bool(rule))
        self._output(partial(job.write_log, text))

    def _with_python(self, finding: Diagnostic) -> Diagnostic:
        """A finding with the text of the Python file that it, or else its first note in one, is in."""
        notes = [
            note if self._python(note.location) is None else replace(note, culprit=None)
            for note in finding.notes
        ]
        own, *others = (self._python(note.location) for note in (finding, *notes))
        culprit = finding.culprit if own is None else None
        text = next(filter(None, (own, *others)), None)
        return finding if text is None else replace(finding, source=text, culprit=culprit, notes=notes)

    def _python(self, location: Location) -> Source | None:
        """The text of the Python file that a finding is in, if it may be shown."""
        point = resolve_file_location(location)
        if point is None or not point.file.endswith(".py"):
            return None
        if point.file not in self._files:
            text = source_files([point.file], self._job.name, None).get(point.file)
            self._files[point.file] = None if text is None else Source(point.file, text)
        return self._files[point.file]

    def _repeats_excerpt(self, diagnostic: Diagnostic) -> bool:
        """Whether an error would show only the excerpt of the error before it."""
        location_and_culprit = (diagnostic.location, diagnostic.culprit)
        is_error = diagnostic.severity is Severity.ERROR
        has_other_places = any(note.location is not diagnostic.location for note in diagnostic.notes)
        is_repeated = is_error and not has_other_places and location_and_culprit == self._last_error
        self._last_error = location_and_culprit if is_error else None
        return is_repeated

    def _with_short_messages(self, diagnostic: Diagnostic) -> Diagnostic:
        """The diagnostic with short messages: some contain a whole operation or a long name."""
        message = shortened(diagnostic.message, MESSAGE_LINES, self._job.columns * MESSAGE_ROWS)
        notes = [self._with_short_messages(note) for note in diagnostic.notes]
        return replace(diagnostic, message=message, notes=notes)

    def _with_operation(self, diagnostic: Diagnostic) -> Diagnostic:
        """The diagnostic with its operation, if any, as the first note."""
        operation = diagnostic.operation
        # For a person, the excerpt says more than the start of a function or a loop.
        is_shown = self._job.max_op_lines == TERMINAL_OP_LINES and diagnostic.culprit is not None
        if operation is None or (is_shown and operation.regions):
            return diagnostic
        text = print_for_note(diagnostic.operation, generic=not diagnostic.in_custom_syntax)
        if self._job.max_op_lines:
            text = shortened(text, self._job.max_op_lines, self._job.columns)
        message = text if diagnostic.in_custom_syntax else f"see current operation: {text}"
        note = Diagnostic(Severity.NOTE, diagnostic.location, message)
        return replace(diagnostic, notes=[note, *diagnostic.notes])


def _with_known_location(diagnostic: Diagnostic) -> Diagnostic:
    """A diagnostic at what it underlines if its location is unknown, as that of JAX's functions."""
    if diagnostic.culprit is None or not isinstance(diagnostic.location, UnknownLoc):
        return diagnostic
    notes = [
        replace(note, location=diagnostic.culprit) if isinstance(note.location, UnknownLoc) else note
        for note in diagnostic.notes
    ]
    return replace(diagnostic, location=diagnostic.culprit, notes=notes)


def _with_trace(diagnostic: Diagnostic) -> Diagnostic:
    """The diagnostic with its stack trace, if it was recorded, as the first note."""
    if not diagnostic.trace:
        return diagnostic
    note = Diagnostic(
        Severity.NOTE, diagnostic.location, f"diagnostic emitted with trace:\n{diagnostic.trace}"
    )
    return replace(diagnostic, notes=[note, *diagnostic.notes])


def shortened(text: str, count: int, columns: int) -> str:
    """The first `count` lines of a text, each at most `columns` wide, and the flag that prints all of it."""
    lines = text.lstrip("\n").split("\n")
    shown = [line if len(line) <= columns else line[: columns - len(ELLIPSIS)] + ELLIPSIS for line in lines]
    if shown == lines and len(lines) <= count:
        return text
    more = len(lines) - count
    rest = counted(more, "more line") if more > 0 else "shortened"
    start = [""] if text.startswith("\n") else []
    return "\n".join([*start, *shown[:count], f"{ELLIPSIS} ({rest}; {OP_LINES_FLAG}=0 prints all)"])


class LazyExplainer:
    """Completes the diagnostics of a source, which was parsed with these dialects and options."""

    def __init__(self, source: Source, dialects: DialectTable, options: ParseOptions) -> None:
        self._arguments = (source, dialects, options)
        self._explainer: DiagnosticExplainer | None = None

    def complete(self, diagnostic: Diagnostic) -> None:
        """Sets the culprit and the help of a diagnostic, where they can be found."""
        # An explanation that fails must not hide the error that it explains.
        with suppress(Exception):
            if self._explainer is None:
                from sdyopt.mlir.error_help.explainer import DiagnosticExplainer

                self._explainer = DiagnosticExplainer(*self._arguments)
            self._explainer.complete(diagnostic)
