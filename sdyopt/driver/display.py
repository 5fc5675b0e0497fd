"""Shows the diagnostics of a job: as text, and to the collector of another format."""

from __future__ import annotations

from dataclasses import replace

from sdyopt.asm.printer.asm_printer import print_for_note
from sdyopt.diagnostics.diagnostic import Diagnostic, Severity
from sdyopt.diagnostics.render import render
from sdyopt.diagnostics.source import Source
from sdyopt.driver.job import Job

# Marks a warning that is an error because of the flag.
PROMOTED = " [--werror]"


# The severities that are not shown, by the verbosity.
_HIDDEN = {
    "errors": (Severity.WARNING, Severity.REMARK),
    "warnings": (Severity.REMARK,),
    "remarks": (),
}


class DiagnosticDisplay:
    """Shows diagnostics by the options of a job. `promoted` counts warnings that --werror made errors."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self.source = Source(job.name, "")
        self.promoted = 0

    def show(self, diagnostic: Diagnostic) -> None:
        """Shows a diagnostic."""
        job = self._job
        is_promoted = job.werror and diagnostic.severity is Severity.WARNING
        if is_promoted:
            self.promoted += 1
        elif diagnostic.severity in _HIDDEN[job.verbosity]:
            return
        if job.hides_notes:
            diagnostic = replace(diagnostic, notes=[])
        if job.collect is not None:
            job.collect(diagnostic, self.source, is_promoted)
        if not job.shows_text:
            return
        if is_promoted:
            message = diagnostic.message + PROMOTED
            diagnostic = replace(diagnostic, severity=Severity.ERROR, message=message)
        if not job.hides_notes and not job.verify_diagnostics:
            if job.print_op_on_diagnostic:
                diagnostic = _with_operation(diagnostic)
            diagnostic = _with_trace(diagnostic)
        job.report(render(diagnostic, self.source, job.paint))


def _with_trace(diagnostic: Diagnostic) -> Diagnostic:
    """The diagnostic with its stack trace, if it was recorded, in the first note."""
    if not diagnostic.trace:
        return diagnostic
    note = Diagnostic(
        Severity.NOTE, diagnostic.location, f"diagnostic emitted with trace:\n{diagnostic.trace}"
    )
    return replace(diagnostic, notes=[note, *diagnostic.notes])


def _with_operation(diagnostic: Diagnostic) -> Diagnostic:
    """The diagnostic with its operation in the first note."""
    if diagnostic.operation is None:
        return diagnostic
    text = print_for_note(diagnostic.operation, generic=not diagnostic.in_custom_syntax)
    message = text if diagnostic.in_custom_syntax else f"see current operation: {text}"
    note = Diagnostic(Severity.NOTE, diagnostic.location, message)
    return replace(diagnostic, notes=[note, *diagnostic.notes])
