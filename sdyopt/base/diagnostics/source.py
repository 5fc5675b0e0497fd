"""Source text, with conversion between offsets and lines and columns."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from functools import cached_property

from sdyopt.base.diagnostics.location import FileLoc


class Source:
    """A named text, or a chunk of one.

    Offsets count characters of `text`. Lines and columns start at 1 and are those of the whole file, even
    in a chunk. Columns count bytes, as in MLIR.
    """

    def __init__(self, name: str, text: str, whole: Source | None = None, start: int = 0) -> None:
        self.name = name
        self.text = text
        self._whole = whole or self
        self._start = start

    def chunk(self, start: int, end: int) -> Source:
        """The text between two offsets, as a source with the same name."""
        return Source(self.name, self.text[start:end], self._whole, self._start + start)

    def location(self, offset: int) -> FileLoc:
        """The file location of an offset."""
        line, column = self.line_column(offset)
        return FileLoc(self.name, line, column)

    def line_column(self, offset: int) -> tuple[int, int]:
        """The line and column of an offset."""
        offset += self._start
        text, line_starts = self._whole.text, self._whole.line_starts
        line = bisect_right(line_starts, offset)
        return line, _byte_count(text, line_starts[line - 1], offset) + 1

    def offset_of(self, line: int, column: int) -> int | None:
        """The offset of a line and column; None if the text has no such line or column."""
        text, line_starts = self._whole.text, self._whole.line_starts
        if not 1 <= line <= len(line_starts) or column < 1:
            return None
        start, end = self._line_bounds(line)
        if text.isascii():
            offset = start + column - 1
        else:
            before = text[start:end].encode("utf-8", "surrogateescape")[: column - 1]
            offset = start + len(before.decode("utf-8", "ignore")) + max(0, column - 1 - len(before))
        return offset - self._start if offset <= end else None

    def line_text(self, line: int) -> str:
        """The text of a line of the file, without the line terminator."""
        start, end = self._line_bounds(line)
        return self._whole.text[start:end]

    @property
    def line_count(self) -> int:
        """The number of lines of the whole file."""
        return len(self._whole.line_starts)

    @cached_property
    def line_starts(self) -> array[int]:
        """The offset of the start of each line. An array takes a fraction of the memory of a list."""
        text, starts, newline = self.text, array("q", [0]), self.text.find("\n")
        while newline >= 0:
            starts.append(newline + 1)
            newline = text.find("\n", newline + 1)
        return starts

    def _line_bounds(self, line: int) -> tuple[int, int]:
        text, line_starts = self._whole.text, self._whole.line_starts
        start = line_starts[line - 1]
        end = line_starts[line] - 1 if line < len(line_starts) else len(text)
        if end > start and text[end - 1] == "\r":
            end -= 1
        return start, end


def _byte_count(text: str, start: int, end: int) -> int:
    if text.isascii():
        return end - start
    return len(text[start:end].encode("utf-8", "surrogateescape"))
