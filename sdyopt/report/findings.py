"""Errors about figures that are too large: they stand at the line that contributes most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sdyopt.diagnostics.diagnostic import DiagnosticError
from sdyopt.diagnostics.location import FileLoc, Location, UnknownLoc
from sdyopt.report.source_locations import SourceLocation

# A figure that is too large names this many of the operations or values that contribute most.
CONTRIBUTORS = 3


class Guilty(NamedTuple):
    """An operation or value that contributes to a figure, in words, with its line and its cause."""

    what: str
    location: SourceLocation
    cause: str = ""


def finding(message: str, guilty: Sequence[Guilty], limit: Location, limit_note: str) -> DiagnosticError:
    """An error at the first of the guilty that has a line, else at the limit, with notes on all of them."""
    lines = [each for each in guilty if each.location.line]
    error = DiagnosticError.at(file_location(lines[0].location) if lines else limit, message)
    for each in guilty:
        text = f"{each.what}; {each.cause}" if each.cause else each.what
        # An argument of a function has a name, but no line.
        name = "" if each.location.line or not each.location.name_stack else f"{each.location.name_stack}: "
        error.note(name + text, file_location(each.location))
    return error.note(limit_note, limit)


def file_location(location: SourceLocation) -> Location:
    """The line of a source location; unknown without one."""
    return FileLoc(location.file, location.line, location.column) if location.line else UnknownLoc()
