"""Errors about figures that are too large, located at the line that contributes most."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.analysis.figures.source_locations import SourceLocation
from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import FileLoc, Location, UnknownLoc

# An error names at most this many of the operations or values that contribute most.
MAX_CONTRIBUTORS = 3


class Contributor(NamedTuple):
    """An operation or a value that contributes to a figure, in words, with its location and its cause."""

    what: str
    location: SourceLocation
    cause: str = ""


def finding(
    message: str, contributors: Sequence[Contributor], limit: Location, limit_note: str
) -> DiagnosticError:
    """An error at the first contributor that has a line, else at the limit.

    It has a note on each contributor, and `limit_note` at the limit.
    """
    lines = [contributor for contributor in contributors if contributor.location.line]
    error = DiagnosticError.at(file_location(lines[0].location) if lines else limit, message)
    for contributor in contributors:
        text = f"{contributor.what}; {contributor.cause}" if contributor.cause else contributor.what
        # The location of a function argument has a name, but no line.
        name = (
            ""
            if contributor.location.line or not contributor.location.name_stack
            else f"{contributor.location.name_stack}: "
        )
        error.note(name + text, file_location(contributor.location))
    return error.note(limit_note, limit)


def file_location(location: SourceLocation) -> Location:
    """The line of a source location; unknown without one."""
    return FileLoc(location.file, location.line, location.column) if location.line else UnknownLoc()
