"""Parses short texts of the command line: tokens, with located errors and help."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from sdyopt.base.diagnostics.diagnostic import Diagnostic, DiagnosticError, Severity
from sdyopt.base.diagnostics.location import FileRange, Source
from sdyopt.base.patterns import constant_pattern

T = TypeVar("T")

# The largest size, device id and number of devices.
MAX_NUMBER = 1 << 62

_SPACE = constant_pattern(r"\s*")
_NUMBER = constant_pattern(r"\d+", re.ASCII)
_NAME = constant_pattern(r"[A-Za-z_][A-Za-z0-9_.$-]*")
_STRING = constant_pattern(r"\"([^\"\\\n]*)\"|'([^'\\\n]*)'")
_TOKEN = constant_pattern(r"\w+|\"[^\"]*\"|'[^']*'|\S|\Z")


def error_at_range(source: Source, start: int, end: int, message: str) -> DiagnosticError:
    """An error that underlines the text from `start` to `end`."""
    line, column = source.line_column(start)
    end_line, end_column = source.line_column(max(start, end))
    location = FileRange(source.name, line, column, end_line, end_column)
    return DiagnosticError(Diagnostic(Severity.ERROR, location, message))


class TextParser:
    """Parses tokens from a position in a source. Spaces before a token are skipped."""

    def __init__(self, source: Source, position: int = 0) -> None:
        self.source = source
        self.position = position

    def skip_space(self) -> int:
        """Moves to the next token and returns its offset."""
        match = _SPACE.match(self.source.text, self.position)
        assert match is not None
        self.position = match.end()
        return self.position

    @property
    def at_end(self) -> bool:
        return self.skip_space() == len(self.source.text)

    def looking_at(self, token: str) -> bool:
        """Whether the next token starts with this text."""
        return self.source.text.startswith(token, self.skip_space())

    def accept(self, token: str) -> bool:
        """Parses this text if it is next and does not end within a word; returns whether it did."""
        start = self.skip_space()
        end = start + len(token)
        text = self.source.text
        if not text.startswith(token, start):
            return False
        if token[-1].isalnum() and (text[end : end + 1].isalnum() or text[end : end + 1] == "_"):
            return False
        self.position = end
        return True

    def expect(self, token: str, help: str = "") -> None:
        """Parses this text, or raises an error at the next token."""
        if not self.accept(token):
            raise self.error(f"expected '{token}'", help)

    def accept_name(self) -> str | None:
        """Parses a name, with or without quotes, if one is next."""
        return self._match(_STRING) or self._match(_NAME)

    def accept_string(self) -> str | None:
        """Parses a string in single or double quotes if one is next, and returns its contents."""
        return self._match(_STRING)

    def number(self, what: str) -> int:
        """Parses a number of at most 2^62. If none is next, the error is that `what` is expected."""
        start = self.skip_space()
        text = self._match(_NUMBER)
        if text is None:
            raise self.error(f"expected {what}")
        if len(text) > 19 or int(text) > MAX_NUMBER:
            raise self.error_since(start, "the number is greater than 2^62")
        return int(text)

    def items(self, item: Callable[[], T], close: str, help: str = "") -> list[T]:
        """Parses items with commas between them, up to and including `close`. A trailing comma is allowed."""
        items: list[T] = []
        while not self.accept(close):
            if items and not self.accept(","):
                raise self.error(f"expected ',' or '{close}'", help)
            if items and self.accept(close):
                break
            items.append(item())
        return items

    def finish(self, help: str = "") -> None:
        """Raises an error if there is more text."""
        if not self.at_end:
            end = len(self.source.text.rstrip())
            raise error_at_range(self.source, self.position, end, "unexpected text").help(help)

    def error(self, message: str, help: str = "") -> DiagnosticError:
        """An error that underlines the next token."""
        start = self.skip_space()
        match = _TOKEN.match(self.source.text, start)
        assert match is not None
        return error_at_range(self.source, start, match.end(), message).help(help)

    def error_since(self, start: int, message: str, help: str = "") -> DiagnosticError:
        """An error that underlines what was parsed since an offset."""
        return error_at_range(self.source, start, self.position, message).help(help)

    def _match(self, pattern: re.Pattern[str]) -> str | None:
        match = pattern.match(self.source.text, self.skip_space())
        if match is None:
            return None
        self.position = match.end()
        return next((group for group in match.groups() if group is not None), match[0])
