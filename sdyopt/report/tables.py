"""Sections and tables of text, the same for a terminal, Markdown and HTML."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReportTable:
    """Rows of text under named columns, the most important row first.

    The first `figures` columns are numbers. If it `has_notes`, the last column is a sentence.
    """

    title: str
    columns: Row
    figures: int
    rows: list[Row]
    has_notes: bool = False


@dataclass(slots=True)
class Section:
    """A heading with the main figure, further sentences, and tables; empty tables are left out."""

    heading: str
    sentences: list[str] = field(default_factory=list)
    tables: list[ReportTable] = field(default_factory=list)

    def add_table(
        self, title: str, columns: Row, figures: int, rows: Iterable[Row], has_notes: bool = False
    ) -> None:
        """Adds a table if it has rows."""
        rows = list(rows)
        if rows:
            self.tables.append(ReportTable(title, columns, figures, rows, has_notes))
