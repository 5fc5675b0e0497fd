"""Shows the diagnostics of a job to a person: with the culprit, help, and the operation they are about."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from sdyopt.asm.parser.module_parser import ParseOptions
from sdyopt.asm.printer.asm_printer import print_for_note
from sdyopt.diagnostics.diagnostic import Diagnostic, Severity
from sdyopt.diagnostics.excerpt import ELLIPSIS
from sdyopt.diagnostics.location import Location
from sdyopt.diagnostics.render import render
from sdyopt.diagnostics.source import Source
from sdyopt.driver.job import Job
from sdyopt.ir.dialect import DialectTable

if TYPE_CHECKING:  # imported on use
    from sdyopt.explain.explainer import Explainer

OP_LINES_FLAG = "--max-diagnostic-op-lines"


class Show:
    """Shows diagnostics of the current chunk of a source; `source` is the whole one."""

    def __init__(self, job: Job, dialects: DialectTable) -> None:
        self.source = Source(job.name, "")
        self._job = job
        self._dialects = dialects
        self._chunk = self.source
        self._explainer: Explainer | None = None
        self._last_place: tuple[Severity, Location, Location | None] | None = None

    def start_chunk(self, chunk: Source) -> None:
        """Makes a chunk the one whose diagnostics are shown."""
        self._chunk, self._explainer = chunk, None

    def plain(self, diagnostic: Diagnostic) -> None:
        """Shows a diagnostic as it is."""
        self._job.report(render(diagnostic, self.source, self._job.paint, self._job.columns))

    def explained(self, diagnostic: Diagnostic) -> None:
        """Shows a diagnostic with its culprit and help, and with its operation in the first note."""
        self._explain(diagnostic)
        if diagnostic.operation is not None and self._job.print_op_on_diagnostic:
            diagnostic.notes.insert(0, self._operation_note(diagnostic))
        # Errors that follow from another one at the same place do not show it again.
        place = (diagnostic.severity, diagnostic.location, diagnostic.culprit)
        if place == self._last_place and diagnostic.severity is Severity.ERROR and not diagnostic.notes:
            self._job.report(render(diagnostic, None, self._job.paint))
        else:
            self.plain(diagnostic)
        self._last_place = place

    def _explain(self, diagnostic: Diagnostic) -> None:
        if self._explainer is None:
            # Imported only if there is something to explain.
            from sdyopt.explain.explainer import Explainer

            options = ParseOptions(allow_unregistered_dialects=self._job.allow_unregistered_dialects)
            self._explainer = Explainer(self._chunk, self._dialects, options)
        # An explanation that fails must not hide the error that it explains.
        with suppress(Exception):
            self._explainer.complete(diagnostic)

    def _operation_note(self, diagnostic: Diagnostic) -> Diagnostic:
        text = print_for_note(diagnostic.operation, generic=not diagnostic.in_custom_syntax)
        if self._job.max_op_lines:
            text = shortened(text, self._job.max_op_lines, self._job.columns)
        message = text if diagnostic.in_custom_syntax else f"see current operation: {text}"
        return Diagnostic(Severity.NOTE, diagnostic.location, message)


def shortened(text: str, count: int, columns: int) -> str:
    """The first lines of a text, each at most `columns` wide, and how to see all of it."""
    lines = text.lstrip("\n").split("\n")
    shown = [line if len(line) <= columns else line[: columns - len(ELLIPSIS)] + ELLIPSIS for line in lines]
    if shown == lines and len(lines) <= count:
        return text
    more = len(lines) - count
    rest = f"{more} more line{'s' if more > 1 else ''}" if more > 0 else "shortened"
    start = [""] if text.startswith("\n") else []
    return "\n".join([*start, *shown[:count], f"{ELLIPSIS} ({rest}; {OP_LINES_FLAG}=0 prints all)"])
