"""Escapes in string literals."""

from __future__ import annotations

import re

from sdyopt.asm.lexical import ESCAPE

_ESCAPE = re.compile(ESCAPE)
_SIMPLE = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}
_SPECIAL = re.compile(r'[^\x20-\x7e]|["\\]')


def unescape(text: str) -> str:
    """The value of a string literal's text between the quotes.

    Escaped bytes are decoded as UTF-8; those that are not valid UTF-8 are surrogate escapes.
    """
    if "\\" not in text:
        return text
    raw = _ESCAPE.sub(lambda match: _unescaped(match[0][1:]), text)
    return raw.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")


def escape(value: str) -> str:
    """A value as LLVM prints it between quotes.

    `"` and bytes other than printable ASCII are escaped as two hexadecimal digits; a backslash is doubled.
    """
    if _SPECIAL.search(value) is None:
        return value
    return "".join(
        chr(byte)
        if 0x20 <= byte <= 0x7E and byte not in b'"\\'
        else f"\\{byte:02X}"
        if byte != 0x5C
        else "\\\\"
        for byte in value.encode("utf-8", "surrogateescape")
    )


def _unescaped(escape: str) -> str:
    if escape in _SIMPLE:
        return _SIMPLE[escape]
    return bytes.fromhex(escape).decode("utf-8", "surrogateescape")
