"""Tables in pages, between comments that name them: <!-- planted --> … <!-- end -->.

The rows of a table can be kept in a file, so that an interrupted command can be continued.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple


class Row(NamedTuple):
    """The cells of a row, and whether what it measures is `good`, of one measure or of several."""

    cells: list[str]
    good: list[bool]

    @property
    def text(self) -> str:
        return table_row(self.cells)


class Rows:
    """The rows of a table by key, in the order of the keys. `kept` is the file that has them, if any."""

    def __init__(self, kept: Path | None) -> None:
        self._kept = kept
        self._rows: dict[str, list[Row]] = {}
        if kept is not None and kept.exists():
            for line in kept.read_text(encoding="utf-8").splitlines():
                key, rows = json.loads(line)
                self._rows[key] = [Row(*row) for row in rows]

    def add(self, key: str, make: Callable[[], Sequence[Row]]) -> None:
        """Adds and prints the rows of a key; they are made unless the file has them."""
        if key not in self._rows:
            self._rows[key] = list(make())
            if self._kept is not None:
                with self._kept.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([key, self._rows[key]]) + "\n")
        for row in self._rows[key]:
            sys.stdout.write(row.text + "\n")
        sys.stdout.flush()

    @property
    def all(self) -> list[Row]:
        """The rows of all keys; those of numbers in the order of the numbers."""
        keys = sorted(self._rows, key=lambda key: int(key) if key.isdecimal() else 0)
        return [row for key in keys for row in self._rows[key]]


def table_row(cells: Sequence[str]) -> str:
    """A row of a table in Markdown."""
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def write_table(page: Path, name: str, summary: str, header: Sequence[str], rows: Sequence[Row]) -> None:
    """Writes a table below a sentence, between the comments of this name."""
    lines = [summary, "", table_row(header), table_row(["---"] * len(header)), *(row.text for row in rows)]
    text = "\n".join(lines)
    before, _, rest = page.read_text(encoding="utf-8").partition(f"<!-- {name} -->\n")
    _, _, after = rest.partition("<!-- end -->\n")
    page.write_text(f"{before}<!-- {name} -->\n\n{text}\n\n<!-- end -->\n{after}", encoding="utf-8")
