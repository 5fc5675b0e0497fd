"""Excerpts of the source: a line, or the window of a long line around a column, and a caret line."""

from __future__ import annotations

import unicodedata

TAB_STOP = 8
ELLIPSIS = "..."
# A window has at least this number of columns, even on a narrower terminal.
MIN_WINDOW = 20


def excerpt(line: str, column: int, width: int, columns: int) -> tuple[str, str]:
    """A source line and its caret line, at most `columns` wide; `width` characters are underlined."""
    first, last = _window(line, column, width, max(columns, MIN_WINDOW))
    before = ELLIPSIS if first > 0 else ""
    after = ELLIPSIS if last < len(line) else ""
    text, marks = _with_marks(line[first:last], column - first, width)
    return f"{before}{text}{after}", (" " * len(before) + marks).rstrip()


def _window(line: str, column: int, width: int, columns: int) -> tuple[int, int]:
    """The start and end index of the part of a line that is shown: all of it if it fits."""
    if len(line) <= columns and _cells(line) <= columns:
        return 0, len(line)
    room = columns - 2 * len(ELLIPSIS)
    before = max(room - width, room // 2) // 2
    first = max(0, min(column - before, len(line) - room))
    last = min(len(line), first + room)
    # Wide characters and tabs take more than a column.
    while _cells(line[first:last]) > room and (first < column or last > column + 1):
        if column - first > last - column - width:
            first += 1
        else:
            last -= 1
    return first, last


def _with_marks(line: str, column: int, width: int) -> tuple[str, str]:
    """A line and its caret line, with tabs expanded in both."""
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
    return "".join(shown), "".join(marks)


def _mark(distance: int, width: int, cells: int) -> str:
    """The marks below a character of `cells` cells, at this distance from the caret in characters."""
    if distance < 0:
        return " " * cells
    if distance > 0:
        return "~" * cells
    return "^" + ("~" if width > 1 else " ") * (cells - 1)


def _cells(line: str) -> int:
    """The number of terminal columns of a line."""
    if line.isascii() and "\t" not in line:
        return len(line)
    display_column = 0
    for character in line:
        display_column += _display_width(_cell(character, display_column))
    return display_column


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
