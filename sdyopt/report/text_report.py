"""A report for a terminal: the most important figures first, as wide as the terminal.

rich lays out the tables. What comes from the program (names, locations) is never read as markup, and its
control characters are replaced.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from sdyopt.report.figures import Report
from sdyopt.report.sections import sections_of
from sdyopt.report.tables import ReportTable

# Rows of each table, if not asked for all: the report then fits 40 lines.
ROWS = 5
MIN_WIDTH = 60

# Tables that a short report leaves out.
_DETAILS = ("by line",)
# The widest that columns other than the last get; figures are never cut.
_MAX_WIDTH = {"kind": 24, "type": 28, "where": 28}


def text_report(report: Report, width: int = 80, rows: int | None = ROWS) -> str:
    """The report as text of at most `width` columns; `rows` limits every table, None shows all."""
    out = StringIO()
    console = Console(file=out, width=max(width, MIN_WIDTH), no_color=True, highlight=False, emoji=False)
    for part in _parts(report, rows):
        console.print(part)
    return "".join(line.rstrip() + "\n" for line in out.getvalue().splitlines())


def _parts(report: Report, rows: int | None) -> Iterator[Text | Padding]:
    if report.mesh:
        yield printable(f"{report.devices} devices, mesh {report.mesh}")
    for section in sections_of(report):
        yield printable("")
        yield printable(section.heading)
        for sentence in section.sentences:
            yield printable(f"  {sentence}")
        for table in section.tables:
            if rows is not None and table.title in _DETAILS:
                continue
            yield Padding(_table(table, rows), (0, 0, 0, 2))
            hidden = 0 if rows is None else len(table.rows) - rows
            if hidden > 0:
                yield printable(f"  … and {hidden} more")


def _table(table: ReportTable, limit: int | None) -> Table:
    """A table without lines. Figures are right-aligned; the last column takes the width that is left."""
    rows = table.rows[:limit]
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False, expand=True)
    for number, column in enumerate(table.columns):
        longest = max([len(column), *(len(row[number]) for row in rows)])
        is_last = number == len(table.columns) - 1
        grid.add_column(
            column,
            justify="right" if number < table.figures else "left",
            no_wrap=True,
            overflow="ellipsis",
            width=None if is_last else min(longest, _MAX_WIDTH.get(column, longest)),
            ratio=1 if is_last else None,
        )
    for row in rows:
        grid.add_row(*map(printable, row))
    return grid


def printable(text: str) -> Text:
    """Text without control characters, which a program may have in names and locations."""
    return Text("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text))
