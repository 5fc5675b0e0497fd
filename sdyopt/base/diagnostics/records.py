"""Diagnostics as plain records, with data about their run, from which the formats for tools are written."""

from __future__ import annotations

import os
from collections.abc import Callable

from sdyopt.base.dataclasses import dataclass
from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity
from sdyopt.base.diagnostics.ids import OTHER, operation_name
from sdyopt.base.diagnostics.location import FileRange, Location, NameLoc, call_stack, resolve_file_location
from sdyopt.base.diagnostics.source import Source


@dataclass(frozen=True, slots=True)
class Position:
    """A position in a file, or a range with an exclusive end. Lines and columns start at 1; 0 is unknown.

    Columns count bytes; `characters` is the column and the end column in characters, where the text is known.
    """

    file: str
    line: int
    column: int
    end_line: int | None = None
    end_column: int | None = None
    characters: tuple[int, int | None] | None = None


@dataclass(frozen=True, slots=True)
class NoteRecord:
    """A note. Its two locations are as in a `Record`."""

    message: str
    location: Position | None
    input_location: Position | None


@dataclass(frozen=True, slots=True)
class Record:
    """A diagnostic.

    `location` is from the source locations of the program, such as a line of Python; `input_location` is in
    the input file. They are equal for a program without source locations. `name` is that of the outermost
    named location. `is_promoted`: a warning that is an error because of --werror.
    """

    id: str
    severity: Severity
    message: str
    location: Position | None
    input_location: Position | None
    name: str = ""
    pass_flag: str = ""
    operation: str = ""
    notes: tuple[NoteRecord, ...] = ()
    help: str = ""
    is_promoted: bool = False


def record(diagnostic: Diagnostic, source: Source | None = None, is_promoted: bool = False) -> Record:
    """The record of a diagnostic. `source` is the input."""
    location = diagnostic.location
    named, in_input = _positions(location, source)
    if in_input is None and diagnostic.culprit is not None:
        in_input = _positions(diagnostic.culprit, source)[1]
    callers = [NoteRecord("called from", *_positions(caller, source)) for caller in call_stack(location)]
    notes = [NoteRecord(note.message, *_positions(note.location, source)) for note in diagnostic.notes]
    return Record(
        diagnostic.id or OTHER,
        Severity.ERROR if is_promoted else diagnostic.severity,
        diagnostic.message,
        named,
        in_input,
        next((part.name for part in location.walk() if isinstance(part, NameLoc)), ""),
        diagnostic.pass_flag,
        operation_name(diagnostic),
        (*callers, *notes),
        diagnostic.help,
        is_promoted,
    )


def _positions(location: Location, source: Source | None) -> tuple[Position | None, Position | None]:
    """The position that a location names, and the one in the input, if known."""
    found = resolve_file_location(location)
    if found is None:
        return None, None
    end_line = end_column = None
    if isinstance(found, FileRange):
        end_line, end_column = found.end_line, found.end_column
    if source is None or found.file != source.name:
        return Position(found.file, found.line, found.column, end_line, end_column), None
    start = _character_column(source, found.line, found.column)
    end = None if end_column is None else _character_column(source, end_line or 0, end_column)
    position = Position(found.file, found.line, found.column, end_line, end_column, (start, end))
    return position, position


def _character_column(source: Source, line: int, column: int) -> int:
    """Converts a column in bytes to one in characters."""
    if not 1 <= line <= source.line_count:
        return column
    before = source.line_text(line).encode("utf-8", "surrogateescape")[: max(0, column - 1)]
    return len(before.decode("utf-8", "ignore")) + 1


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The input, the exit status, and how file names are shown.

    Tools that show diagnostics beside the code expect names relative to `root`, the root of the repository,
    if it is known. They show nothing for a file that does not exist, so `exists` decides which of the two
    locations of a diagnostic comes first.
    """

    version: str
    input: str
    exit_code: int
    root: str = ""
    exists: Callable[[str], bool] = os.path.exists

    def shown(self, file: str) -> str:
        """The name of a file, relative to the root of the repository if it is inside."""
        if not self.root:
            return file
        relative = os.path.relpath(file, self.root)
        return file if relative.startswith("..") else relative.replace(os.sep, "/")


# Neither is a file that a tool could open.
STDIN_NAMES = ("-", "<stdin>")


def primary_position(record: Record | NoteRecord, run: RunSummary) -> Position | None:
    """Where a tool shows a diagnostic: the first position in an existing file, else the first one."""
    positions = _distinct_positions(record)
    existing = [position for position in positions if run.exists(position.file)]
    return next(iter([*existing, *positions]), None)


def secondary_position(record: Record, run: RunSummary) -> Position | None:
    """The other position, if there are two."""
    first = primary_position(record, run)
    return next((position for position in _distinct_positions(record) if position is not first), None)


def note_line(note: NoteRecord, run: RunSummary) -> str:
    """A note as a line of text."""
    position = primary_position(note, run)
    if position is None:
        return f"note: {note.message}"
    return f"{run.shown(position.file)}:{position.line}:{position.column}: note: {note.message}"


def _distinct_positions(record: Record | NoteRecord) -> list[Position]:
    """The distinct positions, without those in stdin."""
    found = dict.fromkeys((record.location, record.input_location))
    return [each for each in found if each is not None and each.file not in STDIN_NAMES]
