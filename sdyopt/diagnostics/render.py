"""Diagnostics as text: `file:line:column: severity: message`, the source line, and a caret below it.

The layout is that of LLVM's source manager. Two things differ, for the reader's sake: the caret is
also drawn below lines that hold other than ASCII characters, and of a very long line only the part
around the place is shown.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable

from sdyopt.diagnostics.diagnostic import Diagnostic, Severity
from sdyopt.diagnostics.location import (
    FileRange,
    Location,
    UnknownLoc,
    call_stack,
    describe,
    resolve_file_location,
)
from sdyopt.diagnostics.source import Source

TAB_STOP = 8

# Of a line longer than LINE_LIMIT, this much is shown before the place and after it.
LINE_LIMIT = 512
EXCERPT_BEFORE, EXCERPT_AFTER = 60, 100
ELLIPSIS = "..."

# Colours a piece of text for its role: place, message, caret, or a severity.
Paint = Callable[[str, str], str]


def leave_plain(text: str, _role: str) -> str:
    return text


def render(diagnostic: Diagnostic, source: Source | None = None, paint: Paint = leave_plain) -> str:
    """A diagnostic with its notes, as lines of text. Places in `source` are shown with their line."""
    return "".join(_render_parts(diagnostic, source, paint))


def _render_parts(diagnostic: Diagnostic, source: Source | None, paint: Paint) -> Iterable[str]:
    yield _render_one(diagnostic.severity, diagnostic.location, diagnostic.message, source, paint)
    shown = diagnostic.location
    for shown in call_stack(diagnostic.location):
        yield _render_one(Severity.NOTE, shown, "called from", source, paint)
    for note in diagnostic.notes:
        # Notes about one place show its line once.
        lines_from = source if note.location is not shown else None
        yield _render_one(note.severity, note.location, note.message, lines_from, paint)
        shown = note.location
    if diagnostic.help:
        yield f"{paint('help', 'note')}: {diagnostic.help}\n"


def _render_one(
    severity: Severity, location: Location, message: str, source: Source | None, paint: Paint
) -> str:
    place = resolve_file_location(location)
    if place is None:
        # mlir-opt has `<unknown>:0` here for both, and puts the name in front of the message.
        where = "<unknown>:0" if isinstance(location, UnknownLoc) else f"loc({describe(location)})"
    else:
        where = f"{'<stdin>' if place.file == '-' else place.file}:{place.line}:{place.column}"
    head = f"{paint(where + ':', 'place')} {paint(severity + ':', severity)} {paint(message, 'message')}\n"
    if place is None or source is None or place.file != source.name:
        return head
    start = source.offset_of(place.line, place.column)
    if start is None:
        return head
    width = 1
    if isinstance(place, FileRange) and place.end_line == place.line:
        end = source.offset_of(place.line, place.end_column)
        width = max(1, end - start) if end is not None else 1
    line_start = source.offset_of(place.line, 1) or 0
    line, column = _excerpt(source.line_text(place.line), start - line_start)
    return head + _render_line(line, column, width, paint)


def _excerpt(line: str, column: int) -> tuple[str, int]:
    """The part of a line that is shown, and where in it the column is."""
    if len(line) <= LINE_LIMIT:
        return line, column
    first, last = max(0, column - EXCERPT_BEFORE), min(len(line), column + EXCERPT_AFTER)
    before = ELLIPSIS if first > 0 else ""
    after = ELLIPSIS if last < len(line) else ""
    return before + line[first:last] + after, len(before) + column - first


def _render_line(line: str, column: int, width: int, paint: Paint) -> str:
    """A source line and its caret line, tabs expanded alike in both."""
    shown, marks = [], []
    at = 0
    for index, character in enumerate(line):
        cell = _cell(character, at)
        cells = _display_width(cell)
        at += cells
        shown.append(cell)
        if index < column + width:
            marks.append(_mark(index - column, width, cells))
    if column >= len(line):
        marks.append("^")
    return f"{''.join(shown)}\n{paint(''.join(marks).rstrip(), 'caret')}\n"


def _mark(distance: int, width: int, cells: int) -> str:
    """What stands below a character that is so far from the place: a caret is one cell wide."""
    if distance < 0:
        return " " * cells
    if distance > 0:
        return "~" * cells
    return "^" + ("~" if width > 1 else " ") * (cells - 1)


def _cell(character: str, at: int) -> str:
    """A character as the terminal may see it: control characters of the input must not act."""
    if character == "\t":
        return " " * (TAB_STOP - at % TAB_STOP)
    return character if character.isprintable() else "�"


def _display_width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(map(_character_width, text))


def _character_width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
