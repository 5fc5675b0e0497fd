"""String literals: what an escaped text stands for, and how a text is escaped."""

from __future__ import annotations

import re

_ESCAPE = re.compile(r'\\(?:([nt"\\])|([0-9a-fA-F]{2}))')
_SIMPLE = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}
_SPECIAL = re.compile(r'[^\x20-\x7e]|["\\]')


def unescape(text: str) -> str:
    """The string that the inside of a literal stands for. Bytes above 127 are read as UTF-8."""
    if "\\" not in text:
        return text
    raw = _ESCAPE.sub(lambda m: _SIMPLE[m[1]] if m[1] else _byte(m[2]), text)
    return raw.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")


def escape(value: str) -> str:
    """The inside of a literal, as LLVM writes it: what is not printable ASCII as `\\XX`."""
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


def _byte(digits: str) -> str:
    return bytes.fromhex(digits).decode("utf-8", "surrogateescape")
