"""The text that is compiled, and the way from its offsets to lines and columns and back."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property

from sdyopt.diagnostics.location import FileLoc


class Source:
    """A named text, or a chunk of one.

    Offsets count characters of `text`. Lines and columns are the file's, also for a chunk in its
    middle, so that a diagnostic names a place an editor can jump to. Columns count bytes, as
    MLIR's do.
    """

    def __init__(self, name: str, text: str, whole: Source | None = None, start: int = 0) -> None:
        self.name = name
        self.text = text
        self._whole = whole or self
        self._start = start

    def chunk(self, start: int, end: int) -> Source:
        """The piece between two offsets, as a source of its own."""
        return Source(self.name, self.text[start:end], self._whole, self._start + start)

    def location(self, offset: int) -> FileLoc:
        line, column = self.line_column(offset)
        return FileLoc(self.name, line, column)

    def line_column(self, offset: int) -> tuple[int, int]:
        """The line and column of an offset, both from 1."""
        offset += self._start
        text, line_starts = self._whole.text, self._whole.line_starts
        line = bisect_right(line_starts, offset)
        return line, _byte_count(text, line_starts[line - 1], offset) + 1

    def offset_of(self, line: int, column: int) -> int | None:
        """The offset of a line and column; None where the text has no such place."""
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
        """The text of a line of the file, without what ends it."""
        start, end = self._line_bounds(line)
        return self._whole.text[start:end]

    @property
    def line_count(self) -> int:
        return len(self._whole.line_starts)

    @cached_property
    def line_starts(self) -> list[int]:
        """The offset at which each line starts."""
        text, starts, found = self.text, [0], self.text.find("\n")
        while found >= 0:
            starts.append(found + 1)
            found = text.find("\n", found + 1)
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
