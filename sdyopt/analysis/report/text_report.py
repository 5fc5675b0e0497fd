"""A report for a terminal: the most important figures first, and no wider than the terminal.

Control characters of what comes from the program (names, locations) are replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from textwrap import wrap

from rich.cells import cell_len, chop_cells, set_cell_size

from sdyopt.analysis.figures.figures import Report
from sdyopt.analysis.figures.machines import machine_of_mesh
from sdyopt.analysis.interface.pages.section import ReportTable, Row, Section, without_empty
from sdyopt.analysis.report.communication import METHODS
from sdyopt.analysis.report.sections import sections_of
from sdyopt.base.dataclasses import replace
from sdyopt.base.diagnostics.text import replace_unprintable
from sdyopt.base.patterns import constant_pattern

# The default number of rows of each table. It is reduced to LEAST_ROWS while the report has more than
# MAX_LINES: fewer rows say less than a longer report.
ROWS, LEAST_ROWS = 5, 3
# All rows, but those of little: what is written to a file.
LARGE_ROWS = -1
MAX_LINES = 72
MIN_WIDTH = 60

# A row with a note takes several lines, so a comparison has fewer such rows. A note has at most
# _NOTE_LINES.
_NOTED_ROWS = 3
_NOTE_LINES = 3
# The largest widths of columns that are not the last; figures are never cut.
_MAX_WIDTH = {"kind": 24, "type": 28, "where": 28, "report": 36, "weight": 36}
_INDENT, _NOTE_INDENT, _BETWEEN = "  ", "        ", "  "
_BYTES = constant_pattern(r"([\d.]+) ([KMGT]?)i?B")


def text_report(report: Report, width: int = 80, rows: int | None = ROWS) -> str:
    """The report as text of at most `width` columns, or MIN_WIDTH if that is more.

    `rows` limits every table; None shows all rows, and `LARGE_ROWS` those of at least 0.1% of the largest.
    """
    has_details = rows is None or rows == LARGE_ROWS
    sections, width = sections_of(report, has_details=has_details), max(width, MIN_WIDTH)
    lines, fewer = list(_lines(report, sections, width, rows)), ROWS
    if rows == ROWS and len(lines) > MAX_LINES:
        # Rather rows are shown than how figures are computed, which docs/reports.md has.
        for section in sections:
            section.sentences = [sentence for sentence in section.sentences if sentence not in METHODS]
        lines = list(_lines(report, sections, width, rows))
    while rows == ROWS and len(lines) > MAX_LINES and fewer > LEAST_ROWS:
        fewer -= 1
        lines = list(_lines(report, sections, width, fewer))
    return "".join(line.rstrip() + "\n" for line in lines)


def _lines(report: Report, sections: Sequence[Section], width: int, rows: int | None) -> Iterator[str]:
    devices = f"{report.devices} {'device' if report.devices == 1 else 'devices'}"
    mesh = f"mesh {report.mesh}" if report.mesh else "no mesh"
    idle = machine_of_mesh(report.topology, report.devices)
    header = filter(None, (f"{devices}, {mesh}", idle, report.assumption))
    yield from section_lines(list(header), sections, width, rows, ROWS)


def section_lines(
    header: Sequence[str],
    sections: Sequence[Section],
    width: int,
    rows: int | None,
    noted_rows: int = _NOTED_ROWS,
) -> Iterator[str]:
    """A header and sections in lines of at most `width` columns; `rows` limits every table.

    `noted_rows` limits tables with notes, too.
    """
    for line in header:
        yield from _wrapped(line, width)
    for section in sections:
        yield ""
        yield from _wrapped(section.heading, width)
        for sentence in section.sentences:
            for line in _wrapped(sentence, width - len(_INDENT)):
                yield _INDENT + line
        for table in section.tables:
            yield from _table_lines(table, width, rows, noted_rows)


def _table_lines(table: ReportTable, width: int, rows: int | None, noted_rows: int) -> Iterator[str]:
    """The header and the rows, each with its note below, and how many rows are left out."""
    small = 0
    if rows == LARGE_ROWS:
        large = _large_rows(table)
        small = len(table.rows) - len(large)
        rows, table = None, replace(table, rows=large)
    limit = len(table.rows) if rows is None else min(rows, noted_rows) if table.has_notes else rows
    # Rather the last column is below the others than cut.
    below = "" if table.has_notes or _width_of(table, limit) <= width - len(_INDENT) else table.columns[-1]
    shown = replace(table, has_notes=True) if below else table
    header, *lines = _laid_out(shown, limit, width - len(_INDENT))
    yield _INDENT + header
    for line, row in zip(lines, table.rows[:limit], strict=True):
        yield _INDENT + line
        if shown.has_notes and row[-1]:
            yield from _note(replace_unprintable(f"{below}: {row[-1]}" if below else row[-1]), width)
    if len(table.rows) > limit:
        yield f"{_INDENT}… and {len(table.rows) - limit} more"
    if small:
        yield f"{_INDENT}… and {small} more, each less than 0.1% of the largest"


def _large_rows(table: ReportTable) -> list[Row]:
    """The rows but those of less than 0.1% of the bytes of the largest."""
    if "bytes" not in table.columns:
        return list(table.rows)
    column = table.columns.index("bytes")
    sizes = [_bytes_of(row[column]) for row in table.rows]
    largest = max((size or 0 for size in sizes), default=0)
    pairs = zip(table.rows, sizes, strict=True)
    return [row for row, size in pairs if size is None or 1000 * size >= largest]


def _bytes_of(text: str) -> float | None:
    """The bytes that a text of a table states; None for another, as of a loop whose length is unknown."""
    match = _BYTES.fullmatch(text)
    if match is None:
        return None
    power = "KMGT".index(match[2]) + 1 if match[2] else 0
    return float(match[1]) * float(1024**power)


def _wrapped(text: str, width: int) -> list[str]:
    """A text in lines of at most `width` columns, broken between words, or within what is longer."""
    text = replace_unprintable(text)
    if len(text) <= width and text.isascii():
        return [text]
    lines = [""]
    for word in re.findall(r"\s*\S+\s*", text):
        length = cell_len(word.rstrip())
        if length <= width - cell_len(lines[-1]):
            lines[-1] += word
        else:
            lines += [word] if length <= width else chop_cells(word, width)
    return [line.rstrip() for line in (lines if lines[0] else lines[1:])]


def _note(text: str, width: int) -> Iterator[str]:
    """The lines of a note below a row, with an ellipsis if there would be more than _NOTE_LINES."""
    lines = wrap(text, width - len(_NOTE_INDENT), break_on_hyphens=False)
    if len(lines) > _NOTE_LINES:
        last = set_cell_size(lines[_NOTE_LINES - 1], width - len(_NOTE_INDENT) - 1).rstrip() + "…"
        lines = [*lines[: _NOTE_LINES - 1], last]
    yield from (_NOTE_INDENT + line for line in lines)


def _width_of(table: ReportTable, limit: int) -> int:
    """The columns that a table needs if nothing is cut but what has a largest width."""
    widths = []
    for number, column in enumerate(table.columns):
        longest = max([len(column), *(len(row[number]) for row in table.rows[:limit])])
        widths.append(min(longest, _MAX_WIDTH.get(column, longest)))
    return sum(widths) + 2 * (len(widths) - 1)


def _laid_out(table: ReportTable, limit: int, width: int) -> Iterator[str]:
    """The lines of a table. Figures are right-aligned; the last column takes the remaining width."""
    rows = table.rows[:limit]
    columns = table.columns[:-1] if table.has_notes else table.columns
    # This also drops the notes, which `rows` still has as a further column.
    columns, rows = without_empty(columns, rows)
    widths = []
    for number, column in enumerate(columns[:-1]):
        longest = max([len(column), *(len(row[number]) for row in rows)])
        widths.append(min(longest, _MAX_WIDTH.get(column, longest)))
    widths = _reduced([*widths, max(width - sum(widths) - len(_BETWEEN) * len(widths), 1)], width)
    for row in (columns, *rows):
        named = zip(columns, row, strict=False) if row is not columns else (("", name) for name in columns)
        texts = (replace_unprintable(_shortened(name, cell)) for name, cell in named)
        cells = [
            _cell(text, size, is_figure=number < table.figures)
            for number, (text, size) in enumerate(zip(texts, widths, strict=True))
        ]
        yield _BETWEEN.join(cells).rstrip()


def _reduced(widths: list[int], width: int) -> list[int]:
    """The widths of columns, evenly reduced to at most `width` with the spaces between them."""
    excess, reduced = sum(widths) + len(_BETWEEN) * (len(widths) - 1) - width, []
    for left, size in zip(range(len(widths), 0, -1), widths, strict=True):
        part = min(max(round(excess / left), 0), size)
        excess -= part
        reduced.append(size - part)
    return reduced


def _cell(text: str, width: int, *, is_figure: bool) -> str:
    """A text in a column of a width, cut with an ellipsis if it is longer."""
    text = text.rstrip()
    length = len(text) if text.isascii() else cell_len(text)
    if length > width:
        return set_cell_size(text, width - 1) + "…" if width else ""
    return " " * (width - length) + text if is_figure else text + " " * (width - length)


def _shortened(column: str, text: str) -> str:
    """The text or, of a long location, only the end, which has the line."""
    width = _MAX_WIDTH[column] if column == "where" else 0
    return f"…{text[1 - width :]}" if 0 < width < len(text) else text
