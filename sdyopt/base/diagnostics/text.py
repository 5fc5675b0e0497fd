"""Text from outside the program, and text for people.

Python decodes arguments and encodes file names by the locale. Programs and diagnostics are always UTF-8,
so that names compare and print alike under every locale. `from_native` and `native_path` convert where the
locale is not UTF-8.

Names, messages and file names may contain escape sequences, or characters that reorder the text around
them. Everything that is rendered for people passes through `printable`. Programs are printed by MLIR's
rules, which escape such characters in strings.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

_IS_UTF8 = sys.getfilesystemencoding() == "utf-8"


def from_native(text: str) -> str:
    """An argument or file name that Python decoded by the locale, decoded as UTF-8 instead."""
    return text if _IS_UTF8 else os.fsencode(text).decode("utf-8", "surrogateescape")


def native_path(text: str) -> Path:
    """The path of a file whose name is UTF-8 text."""
    return Path(text if _IS_UTF8 else os.fsdecode(text.encode("utf-8", "surrogateescape")))


def real_path(path: Path) -> Path:
    """The absolute path without links; a link to itself stays, where `resolve` of older Python raises."""
    return Path(os.path.realpath(path))


# C0 and C1 controls, marks and overrides of the writing direction, invisible characters, line separators,
# and the surrogates of bytes that are not UTF-8. Tabs and newlines are layout. MLIR prints a NUL character in
# one of its messages, and terminals ignore it.
_UNSAFE = re.compile(
    "[\x01-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def printable(text: str) -> str:
    """The text with unsafe characters written as escapes: `\\x1b`, `\\u202e`."""
    return _UNSAFE.sub(_escape, text)


def printable_line(text: str) -> str:
    """A name or file name, which must not start another line: newlines are escaped, too."""
    return printable(text).replace("\n", "\\n")


def printable_json(text: str) -> str:
    """JSON with unsafe characters in its strings as the escapes of JSON, which stand for the same strings."""
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def without_unsafe(text: str) -> str:
    """A text of several lines with U+FFFD in place of unsafe characters."""
    return _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text)


def replace_unprintable(text: str) -> str:
    """A line with U+FFFD in place of unprintable characters, such as control characters in names."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def counted(number: int, noun: str) -> str:
    """`1 value`, `2 values`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
