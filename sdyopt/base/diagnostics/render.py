"""Diagnostics as text: `file:line:column: severity: message`, the source line, and a caret line.

    model.mlir:3:3: error: 'func.func' op arg 1 - unknown axis name: "modle"
      --> model.mlir:3:213
    ... %arg1: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"modle"}, {}]>}, %arg2: tens...
                                                                       ^~~~~~~
    help: did you mean "model"?

The layout is that of LLVM's SourceMgr, with three exceptions. The excerpt shows the culprit, which may be at
another position than the diagnostic, or in another file. A line that is wider than the terminal is shortened.
And the caret is also drawn for lines with non-ASCII characters.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path

from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity
from sdyopt.base.diagnostics.location import (
    FileLoc,
    FileRange,
    Location,
    Source,
    UnknownLoc,
    call_stack,
    describe,
    resolve_file_location,
)
from sdyopt.base.diagnostics.text import printable, printable_line

# The escape codes of each role: bold, in the colors of LLVM's tools.
_CODES = {
    "location": "1",
    "message": "1",
    "caret": "1;32",
    "error": "1;31",
    "warning": "1;35",
    "remark": "1;34",
    "note": "1;36",
}


def paint(text: str, role: str) -> str:
    """The text with the escape codes of its role."""
    return f"\x1b[{_CODES[role]}m{text}\x1b[0m" if text else text


_NO_BREAK = "\N{NO-BREAK SPACE}"
# The columns of an excerpt that is not printed to a terminal.
DEFAULT_COLUMNS = 100

# (text, role) -> text with color codes; roles are location, message, caret, and the severities.
Paint = Callable[[str, str], str]


def leave_plain(text: str, _role: str) -> str:
    """A `Paint` without colors."""
    return text


def render(
    diagnostic: Diagnostic,
    source: Source | None = None,
    paint: Paint = leave_plain,
    columns: int = DEFAULT_COLUMNS,
    folds_help: bool = False,
    is_finding: bool = False,
) -> str:
    """The text of a diagnostic with its notes and help. Locations in `source` are shown with an excerpt.

    `folds_help`: lines of help have at most `columns` columns. So have messages if it `is_finding`, a
    finding of lint, whose files have their names in the current folder.
    """
    return "".join(_Renderer(source, paint, columns, folds_help, is_finding).parts(diagnostic))


class _Renderer:
    def __init__(
        self, source: Source | None, paint: Paint, columns: int, folds_help: bool, is_finding: bool
    ) -> None:
        self._source = source
        self._own: Source | None = None
        self._paint = paint
        self._columns = columns
        self._folds_help = folds_help
        self._is_finding = is_finding

    def parts(self, diagnostic: Diagnostic) -> Iterable[str]:
        self._own = diagnostic.source
        yield self._head(diagnostic.severity, diagnostic.location, diagnostic.message)
        yield self._culprit(diagnostic)
        shown = diagnostic.location
        for shown in call_stack(diagnostic.location):
            yield self._head(Severity.NOTE, shown, "called from")
            if diagnostic.source is None:
                yield self._excerpt(shown)
        for note in diagnostic.notes:
            yield self._head(note.severity, note.location, note.message)
            # Notes show the source line of the diagnostic, or of the note before, once.
            if note.location is not shown and note.location is not diagnostic.location:
                yield self._culprit(note)
            shown = note.location
        if diagnostic.help:
            text = f"{_HELP}{printable(diagnostic.help)}"
            text = _folded(text, self._columns) if self._folds_help else text
            yield f"{self._paint('help', 'note')}{text.removeprefix('help')}\n"

    def _head(self, severity: Severity, location: Location, message: str) -> str:
        paint, where = self._paint, printable_line(_where(location))
        if self._is_finding:
            # The name of a file in the current folder.
            where = where.removeprefix(f"{Path.cwd()}/")
        start, text = f"{where}: {severity}: ", printable(message)
        if self._is_finding and self._folds_help:
            text = _folded(start + text, self._columns)[len(start) :]
        return (
            f"{paint(where + ':', 'location')} {paint(severity + ':', severity)} {paint(text, 'message')}\n"
        )

    def _culprit(self, diagnostic: Diagnostic) -> str:
        """The excerpt of a diagnostic, and its position if that is not the position in the first line."""
        culprit = diagnostic.culprit
        if culprit is None:
            return self._excerpt(diagnostic.location)
        text = self._excerpt(culprit)
        position = _where(culprit)
        if not text or position == _where(diagnostic.location):
            return text
        return f"{self._paint(f'  --> {printable_line(position)}', 'location')}\n{text}"

    def _excerpt(self, location: Location) -> str:
        """The source line and caret line of a location; empty if it is not in the source."""
        point = resolve_file_location(location)
        sources = (self._own, self._source)
        source = next((source for source in sources if source and point and source.name == point.file), None)
        if point is None or source is None:
            return ""
        start = source.offset_of(point.line, point.column)
        if start is None:
            return ""
        line_start = source.offset_of(point.line, 1) or 0
        line, column = source.line_text(point.line), start - line_start
        width = _underlined(point, source, start, max(1, len(line) - column))
        if not line.strip():
            return ""
        text, marks = excerpt(line, column, width, self._columns)
        return f"{text}\n{self._paint(marks, 'caret')}\n"


def _folded(text: str, columns: int) -> str:
    """A text with lines of at most so many columns. The lines that are added are indented further."""
    # Most runs print no help to a terminal.
    import re  # noqa: PLC0415 - see above
    from textwrap import wrap  # noqa: PLC0415 - see above

    # No line ends within `P('x', None)`.
    text = re.sub(
        r"\bP\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)", lambda spec: spec[0].replace(" ", _NO_BREAK), text
    )
    lines: list[str] = []
    for line in text.split("\n"):
        indent = " " * (len(line) - len(line.lstrip()) + (len(_HELP) if line.startswith(_HELP) else 2))
        width = max(columns, MIN_WINDOW)
        folded = wrap(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
        lines += folded or [line]
    return "\n".join(lines).replace(_NO_BREAK, " ")


def _where(location: Location) -> str:
    point = resolve_file_location(location)
    if point is None:
        # mlir-opt prints `<unknown>:0` for both, and the name as part of the message.
        return "<unknown>:0" if isinstance(location, UnknownLoc) else f"loc({describe(location)})"
    return f"{'<stdin>' if point.file == '-' else point.file}:{point.line}:{point.column}"


def _underlined(point: FileLoc | FileRange, source: Source, start: int, rest_of_line: int) -> int:
    """The number of characters to underline; a range over several lines is underlined on the first."""
    if isinstance(point, FileLoc):
        return 1
    if point.end_line > point.line:
        return rest_of_line
    end = source.offset_of(point.line, point.end_column)
    return max(1, end - start) if end is not None else 1


_HELP = "help: "
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
