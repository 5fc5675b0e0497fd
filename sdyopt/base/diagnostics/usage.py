"""Usage errors, in the command line or in the text of a pipeline, and the numbers in these."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TypeVar

from sdyopt.base.dataclasses import replace
from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity
from sdyopt.base.diagnostics.ids import USAGE_ERROR
from sdyopt.base.diagnostics.location import UnknownLoc

# The minimum similarity of a suggested name, from 0 to 1. High, because flags share long parts: mlir-print-….
SIMILARITY = 0.65
# Names of at most so many letters are similar with one that is the same of two, the first.
_SHORT, _SIMILARITY_OF_SHORT = 3, 0.5


class UsageError(ValueError):
    """A usage error with help, such as a similar name.

    `diagnostic` is that of an error in the text of a pipeline, which `message` shows with its location.
    """

    def __init__(self, message: str, help: str = "", diagnostic: Diagnostic | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.help = help
        self.diagnostic = diagnostic

    def as_diagnostic(self) -> Diagnostic:
        """The error as a diagnostic, for formats other than text."""
        if self.diagnostic is not None:
            return replace(self.diagnostic, help=self.help, id=USAGE_ERROR)
        return Diagnostic(Severity.ERROR, UnknownLoc(), self.message, help=self.help, id=USAGE_ERROR)


def nearest(name: str, names: Iterable[str]) -> str:
    """`did you mean 'x'?` for the most similar name; empty if none is similar."""
    match = closest(name, names)
    return "" if match is None else f"did you mean '{match}'?"


def closest(name: str, names: Iterable[str]) -> str | None:
    """The most similar name; None if none is similar. Among equals, the longest common prefix wins."""
    from difflib import SequenceMatcher, get_close_matches  # noqa: PLC0415  slow to import, and rarely used

    choices = sorted(names)
    # Of names of two or three letters, one letter is much.
    is_short = len(name) <= _SHORT and name.isalpha()
    cutoff = _SIMILARITY_OF_SHORT if is_short else SIMILARITY
    matches = get_close_matches(name, choices, n=3, cutoff=cutoff)
    if is_short:
        matches = [match for match in matches if match[0] == name[0] and len(match) <= _SHORT]
        matches = matches or get_close_matches(name, choices, n=3, cutoff=SIMILARITY)
    if not matches:
        return None
    best = SequenceMatcher(None, matches[0], name).ratio()
    equal = [match for match in matches if SequenceMatcher(None, match, name).ratio() == best]
    return max(equal, key=lambda match: _common_prefix_length(match, name))


def _common_prefix_length(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))


def nearest_or_all(name: str, names: Iterable[str], limit: int | None = None) -> str:
    """`did you mean 'x'?`, or `choose from x, y` with at most `limit` names if no name is similar."""
    choices = tuple(names)
    return nearest(name, choices) or (f"choose from {', '.join(choices[:limit])}" if choices else "")


_Number = TypeVar("_Number", int, float)

# A reproducer may contain a number that takes long to convert.
_MAX_LENGTH = 100
_OCTAL = re.compile(r"-?0[0-9]+")


def read_long(text: str) -> int:
    """A signed integer of 64 bits. A prefix `0x`, `0b`, `0o` or `0` gives its base.

    Raises ValueError with LLVM's message if it is invalid; so do `read_uint` and `read_float`.
    """
    return _integer(text, -(1 << 63), (1 << 63) - 1, "long")


def read_uint(text: str) -> int:
    """An unsigned integer of 32 bits."""
    return _integer(text, 0, (1 << 32) - 1, "uint")


def read_float(text: str) -> float:
    """A floating-point number."""
    return _read(float, text, "floating point")


def _integer(text: str, lowest: int, highest: int, llvm_type: str) -> int:
    def convert(text: str) -> int:
        if not text.isascii() or "_" in text or "+" in text:
            raise ValueError
        value = int(text, 8 if _OCTAL.fullmatch(text) else 0)
        if not lowest <= value <= highest:
            raise ValueError
        return value

    return _read(convert, text, llvm_type)


def _read(convert: Callable[[str], _Number], text: str, llvm_type: str) -> _Number:
    if not text:
        raise ValueError("requires a value!")
    try:
        return convert(text if len(text) <= _MAX_LENGTH else "")
    except ValueError:
        raise ValueError(f"'{text}' value invalid for {llvm_type} argument!") from None
