"""Diagnostics as text: `file:line:column: severity: message`, the source line, and a caret line.

The layout is that of LLVM's SourceMgr, with two exceptions: the caret is also drawn for lines with non-ASCII
characters, and very long lines are shortened to an excerpt.
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

# A line longer than LINE_LIMIT is shortened to this number of characters before and after the location.
LINE_LIMIT = 512
EXCERPT_BEFORE, EXCERPT_AFTER = 60, 100
ELLIPSIS = "..."

# (text, role) -> text with color codes; roles are location, message, caret, and the severities.
Paint = Callable[[str, str], str]


def leave_plain(text: str, _role: str) -> str:
    """A `Paint` without colors."""
    return text


def render(diagnostic: Diagnostic, source: Source | None = None, paint: Paint = leave_plain) -> str:
    """The text of a diagnostic with its notes. Locations in `source` are shown with the source line."""
    return "".join(_render_parts(diagnostic, source, paint))


def _render_parts(diagnostic: Diagnostic, source: Source | None, paint: Paint) -> Iterable[str]:
    yield _render_one(diagnostic.severity, diagnostic.location, diagnostic.message, source, paint)
    shown = diagnostic.location
    for shown in call_stack(diagnostic.location):
        yield _render_one(Severity.NOTE, shown, "called from", source, paint)
    for note in diagnostic.notes:
        # Consecutive notes at the same location show the source line once.
        line_source = source if note.location is not shown else None
        yield _render_one(note.severity, note.location, note.message, line_source, paint)
        shown = note.location
    if diagnostic.help:
        yield f"{paint('help', 'note')}: {diagnostic.help}\n"


def _render_one(
    severity: Severity, location: Location, message: str, source: Source | None, paint: Paint
) -> str:
    file_location = resolve_file_location(location)
    if file_location is None:
        # mlir-opt prints `<unknown>:0` for both, and the name as part of the message.
        where = "<unknown>:0" if isinstance(location, UnknownLoc) else f"loc({describe(location)})"
    else:
        file = "<stdin>" if file_location.file == "-" else file_location.file
        where = f"{file}:{file_location.line}:{file_location.column}"
    head = f"{paint(where + ':', 'location')} {paint(severity + ':', severity)} {paint(message, 'message')}\n"
    if file_location is None or source is None or file_location.file != source.name:
        return head
    start = source.offset_of(file_location.line, file_location.column)
    if start is None:
        return head
    width = 1
    if isinstance(file_location, FileRange) and file_location.end_line == file_location.line:
        end = source.offset_of(file_location.line, file_location.end_column)
        width = max(1, end - start) if end is not None else 1
    line_start = source.offset_of(file_location.line, 1) or 0
    line, column = _excerpt(source.line_text(file_location.line), start - line_start)
    return head + _render_line(line, column, width, paint)


def _excerpt(line: str, column: int) -> tuple[str, int]:
    """The excerpt of a line that is shown, and the column in the excerpt."""
    if len(line) <= LINE_LIMIT:
        return line, column
    first, last = max(0, column - EXCERPT_BEFORE), min(len(line), column + EXCERPT_AFTER)
    before = ELLIPSIS if first > 0 else ""
    after = ELLIPSIS if last < len(line) else ""
    return before + line[first:last] + after, len(before) + column - first


def _render_line(line: str, column: int, width: int, paint: Paint) -> str:
    """A source line and its caret line, with tabs expanded in both."""
    shown, marks = [], []
    display_column = 0
    for index, character in enumerate(line):
        cell = _cell(character, display_column)
        cells = _display_width(cell)
        display_column += cells
        shown.append(cell)
        if index < column + width:
            marks.append(_mark(index - column, width, cells))
    if column >= len(line):
        marks.append("^")
    return f"{''.join(shown)}\n{paint(''.join(marks).rstrip(), 'caret')}\n"


def _mark(distance: int, width: int, cells: int) -> str:
    """The caret line below a character at this distance from the caret, which is one cell wide."""
    if distance < 0:
        return " " * cells
    if distance > 0:
        return "~" * cells
    return "^" + ("~" if width > 1 else " ") * (cells - 1)


def _cell(character: str, display_column: int) -> str:
    """A character as shown on a terminal: control characters in the input are replaced."""
    if character == "\t":
        return " " * (TAB_STOP - display_column % TAB_STOP)
    return character if character.isprintable() else "�"


def _display_width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(map(_character_width, text))


def _character_width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
