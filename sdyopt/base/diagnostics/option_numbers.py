"""Numbers on command lines and in pipelines, parsed as LLVM's command line library does."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

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
