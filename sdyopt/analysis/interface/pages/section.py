"""A section of text with tables, which is shown in a terminal, Markdown, a page or a notebook."""

from __future__ import annotations

from collections.abc import Iterable

from sdyopt.base.dataclasses import dataclass, field

Row = tuple[str, ...]

# Columns that a table without any entry in them leaves out.
_OPTIONAL = ("copies",)


@dataclass(frozen=True, slots=True)
class ReportTable:
    """Rows of text under named columns, the most important row first.

    The first `figures` columns are numbers. If it `has_notes`, the last column is a sentence. The title may
    be empty.
    """

    title: str
    columns: Row
    figures: int
    rows: list[Row]
    has_notes: bool = False


def without_empty(columns: Row, rows: list[Row]) -> tuple[Row, list[Row]]:
    """A table without the optional columns that are empty in all of its rows."""
    kept = [
        number
        for number, column in enumerate(columns)
        if column not in _OPTIONAL or any(row[number] for row in rows)
    ]
    return _picked(columns, kept), [_picked(row, kept) for row in rows]


def _picked(row: Row, numbers: list[int]) -> Row:
    return tuple([row[number] for number in numbers])


@dataclass(slots=True)
class Section:
    """A heading with the main figure, further sentences, and tables; empty tables are left out.

    `verdict` is the sentence that is worth telling with the figure, "" if none is.
    """

    heading: str
    sentences: list[str] = field(default_factory=list)
    tables: list[ReportTable] = field(default_factory=list)
    verdict: str = ""

    def add_table(
        self,
        title: str,
        columns: Row,
        figures: int,
        rows: Iterable[Row],
        has_notes: bool = False,
    ) -> None:
        """Adds a table if it has rows."""
        named = columns[:figures]
        columns, rows = without_empty(columns, list(rows))
        figures = sum(column in named for column in columns)
        if rows:
            self.tables.append(ReportTable(title, columns, figures, rows, has_notes))
