"""Text of the input as people may see it: without characters that control a terminal.

Names, messages and file names may contain escape sequences, or characters that reorder the text around them.
Everything that is rendered for people passes through `printable`. Programs are printed by MLIR's rules, which
escape such characters in strings.
"""

from __future__ import annotations

import re

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


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
