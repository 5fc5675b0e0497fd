"""Diagnostics: what is told about the input, and the way it gets to whoever shows it.

What ends a parse or a pass is raised, as a `DiagnosticError`; where the run goes on and may have
more to say, the diagnostic is emitted. Either way it reaches the innermost handler.

    raise op.error("sharding doesn't match tensor rank").note("tensor defined here", value.location)
    emit(Diagnostic(Severity.WARNING, op.location, "mesh is never used"))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self

from sdyopt.diagnostics.location import Location


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    REMARK = "remark"
    NOTE = "note"


@dataclass(slots=True, eq=False)
class Diagnostic:
    """A message with a place, notes with places of their own, and help for whoever has to fix it.

    `operation` is the operation that it is about, if any: the driver adds a note that shows it, in the
    generic syntax unless it is shown `in_own_syntax`.
    `help` is rendered below the rest and is not a diagnostic: nobody has to expect it.
    `followers` are errors that come of this one; each is told right after it. An error that is not
    `is_fatal` is told like any other, but does not fail the pass that tells it.
    """

    severity: Severity
    location: Location
    message: str
    notes: list[Diagnostic] = field(default_factory=list)
    operation: Any = None
    help: str = ""
    followers: list[Diagnostic] = field(default_factory=list)
    in_own_syntax: bool = False
    is_fatal: bool = True


class DiagnosticError(Exception):
    """An error of the input that ends what is being done with it."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic

    @classmethod
    def at(cls, location: Location, message: str) -> Self:
        """An error with a message at a location."""
        return cls(Diagnostic(Severity.ERROR, location, message))

    def note(self, message: str, location: Location | None = None) -> Self:
        """Adds a note, about the same place if no other is given."""
        place = location or self.diagnostic.location
        self.diagnostic.notes.append(Diagnostic(Severity.NOTE, place, message))
        return self

    def then(self, error: DiagnosticError) -> Self:
        """Adds an error that comes of this one."""
        self.diagnostic.followers.append(error.diagnostic)
        return self

    def help(self, text: str) -> Self:
        """Says what would be right, in words that the reference does not have."""
        self.diagnostic.help = text
        return self


Handler = Callable[[Diagnostic], None]

# The handlers of the runs that are under way, innermost last.
_handlers: list[Handler] = []


def emit(diagnostic: Diagnostic) -> None:
    """Hands a diagnostic to the innermost handler; without one, an error is raised."""
    handle = _innermost_handler()
    handle(diagnostic)
    for follower in diagnostic.followers:
        handle(follower)


@contextmanager
def handling(handler: Handler) -> Iterator[None]:
    """Sends what is emitted within the `with` block to `handler`."""
    _handlers.append(handler)
    try:
        yield
    finally:
        _handlers.pop()


@contextmanager
def watching(watch: Handler) -> Iterator[None]:
    """Lets `watch` see what is emitted within the `with` block, on its way to the handler outside."""
    outside = _innermost_handler()

    def see_and_pass_on(diagnostic: Diagnostic) -> None:
        watch(diagnostic)
        outside(diagnostic)

    with handling(see_and_pass_on):
        yield


def _innermost_handler() -> Handler:
    return _handlers[-1] if _handlers else _raise_error


def _raise_error(diagnostic: Diagnostic) -> None:
    if diagnostic.severity is Severity.ERROR:
        raise DiagnosticError(diagnostic)
