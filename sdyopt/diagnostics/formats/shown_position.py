"""Which of the two positions of a diagnostic a tool shows."""

from __future__ import annotations

from sdyopt.diagnostics.formats.run_summary import RunSummary
from sdyopt.diagnostics.records import NoteRecord, Position, Record

# Neither is a file that a tool could open.
STDIN_NAMES = ("-", "<stdin>")


def primary_position(record: Record | NoteRecord, run: RunSummary) -> Position | None:
    """Where a tool shows a diagnostic: the first position in an existing file, else the first one."""
    positions = _positions(record)
    existing = [position for position in positions if run.exists(position.file)]
    return next(iter([*existing, *positions]), None)


def secondary_position(record: Record, run: RunSummary) -> Position | None:
    """The other position, if there are two."""
    first = primary_position(record, run)
    return next((position for position in _positions(record) if position is not first), None)


def note_line(note: NoteRecord, run: RunSummary) -> str:
    """A note as a line of text."""
    position = primary_position(note, run)
    if position is None:
        return f"note: {note.message}"
    return f"{run.shown(position.file)}:{position.line}:{position.column}: note: {note.message}"


def _positions(record: Record | NoteRecord) -> list[Position]:
    """The distinct positions, without those in stdin."""
    found = dict.fromkeys((record.location, record.input_location))
    return [each for each in found if each is not None and each.file not in STDIN_NAMES]
