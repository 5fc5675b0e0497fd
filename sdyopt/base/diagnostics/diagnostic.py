"""Diagnostics and diagnostic handlers.

An error that ends a parse or a pass is raised as a `DiagnosticError`; a diagnostic after which the run
continues is emitted. Both reach the innermost handler.

    raise op.error("sharding doesn't match tensor rank").note("tensor defined here", value.location)
    emit(Diagnostic(Severity.WARNING, op.location, "mesh is never used"))
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from enum import StrEnum
from types import FrameType
from typing import Any, Self

from sdyopt.base.context import ContextPart
from sdyopt.base.dataclasses import dataclass, field
from sdyopt.base.diagnostics.location import FileRange, Location, Source

_RECORDS_TRACES = ContextPart(False)
# Functions between the code that finds a problem and this module.
_CONSTRUCTORS = ("__init__", "_init", "at", "error", "op_error", "unprefixed_error", "warn")


def recording_traces() -> AbstractContextManager[None]:
    """Records a stack trace for each diagnostic that is created in the `with` block."""
    return _RECORDS_TRACES.set_to(True)


def current_trace() -> str:
    """The stack of the caller, innermost call first; empty unless traces are recorded."""
    if not _RECORDS_TRACES.value:
        return ""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_name in _CONSTRUCTORS:
        frame = frame.f_back
    lines: list[str] = []
    while frame is not None:
        code = frame.f_code
        lines.append(f" #{len(lines)} {code.co_qualname} ({code.co_filename}:{frame.f_lineno})")
        frame = frame.f_back
    return "\n".join(lines)


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    REMARK = "remark"
    NOTE = "note"


@dataclass(slots=True, eq=False)
class Diagnostic:
    """A message with a location, notes, and help.

    `operation` is the `Op` of the diagnostic, if any: the driver adds a note that shows it, in the generic
    syntax unless `in_custom_syntax`.
    `help` suggests a fix; it is rendered after the notes and is not checked by `--verify-diagnostics`.
    `followers` are errors that this one causes, emitted right after it. An error that is not `is_fatal` does
    not fail the pass that emits it.
    `id` names the check, see `diagnostics.ids`; `pass_flag` is the flag of the pass that was running.
    `culprit` is the piece of the source that the excerpt underlines; None for the location itself.
    `source` is the text that the location is in, if that is not the program.
    `trace` is the Python stack trace, if traces are recorded.
    """

    severity: Severity
    location: Location
    message: str
    notes: list[Diagnostic] = field(default_factory=list)
    operation: Any = None
    help: str = ""
    followers: list[Diagnostic] = field(default_factory=list)
    in_custom_syntax: bool = False
    is_fatal: bool = True
    id: str = ""
    pass_flag: str = ""
    culprit: FileRange | None = None
    source: Source | None = None
    trace: str = field(default_factory=current_trace)

    def raise_error(self) -> None:
        if self.severity is Severity.ERROR:
            raise DiagnosticError(self)


class DiagnosticError(Exception):
    """An error in the input that ends the current parse, verification or pass."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic

    @classmethod
    def at(cls, location: Location, message: str) -> Self:
        """An error with this message at a location."""
        return cls(Diagnostic(Severity.ERROR, location, message))

    def note(self, message: str, location: Location | None = None) -> Self:
        """Adds a note, by default at the location of the error."""
        note_location = location or self.diagnostic.location
        self.diagnostic.notes.append(Diagnostic(Severity.NOTE, note_location, message))
        return self

    def then(self, error: DiagnosticError) -> Self:
        """Adds an error that this one causes, emitted after it."""
        self.diagnostic.followers.append(error.diagnostic)
        return self

    def within(self, source: Source) -> Self:
        """Sets the text that the location is in, which the excerpt shows: a file that is not the program."""
        self.diagnostic.source = source
        return self

    def help(self, text: str) -> Self:
        """Sets the help: what to write instead."""
        self.diagnostic.help = text
        return self


Handler = Callable[[Diagnostic], None]


_HANDLER = ContextPart[Handler](Diagnostic.raise_error)


def emit(diagnostic: Diagnostic) -> None:
    """Passes a diagnostic and its followers to the innermost handler.

    Without a handler, an error is raised, and other diagnostics are dropped.
    """
    handle = _HANDLER.value
    handle(diagnostic)
    for follower in diagnostic.followers:
        handle(follower)


def handling(handler: Handler) -> AbstractContextManager[None]:
    """Passes the diagnostics emitted in the `with` block to `handler`."""
    return _HANDLER.set_to(handler)


def watching(watch: Handler) -> AbstractContextManager[None]:
    """Passes the diagnostics emitted in the `with` block to `watch`, then to the enclosing handler."""
    outer = _HANDLER.value

    def watch_and_forward(diagnostic: Diagnostic) -> None:
        watch(diagnostic)
        outer(diagnostic)

    return handling(watch_and_forward)


# The keys that have occurred in the run; None outside of a run.
_OCCURRED = ContextPart[set[str] | None](None)


def is_first_occurrence(key: str) -> bool:
    """Whether this is the first call with this key in the current run; outside of a run, each call is."""
    occurred = _OCCURRED.value
    if occurred is None:
        return True
    if key in occurred:
        return False
    occurred.add(key)
    return True


def mark_occurrences() -> Callable[[], None]:
    """Returns a function that forgets the occurrences since now."""
    occurred = _OCCURRED.value
    if occurred is None:
        return lambda: None
    before = set(occurred)
    return lambda: occurred.intersection_update(before)


def separate_run() -> AbstractContextManager[None]:
    """Makes the `with` block a run of its own."""
    return _OCCURRED.set_to(set())
