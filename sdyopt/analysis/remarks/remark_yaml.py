"""Remarks as YAML, one document each, as LLVM's tools read them."""

from __future__ import annotations

import re

from sdyopt.analysis.remarks.remark import Remark
from sdyopt.base.diagnostics.location import resolve_file_location

# The column at which values start.
_COLUMN = 17
_UNKNOWN_FUNCTION = "<unknown function>"
_UNKNOWN_FILE = "<unknown file>"
# What YAML takes for a string without quotes, in a mapping in braces too.
_PLAIN = re.compile(r"[A-Za-z_/][\w./-]*(?: [\w./-]+)*", re.ASCII)
_KEYWORDS = frozenset(("true", "false", "null", "yes", "no", "on", "off", "y", "n"))


def remark_yaml(remark: Remark) -> str:
    """The YAML document of a remark."""
    point = resolve_file_location(remark.location)
    file, line, column = (_UNKNOWN_FILE, 0, 0) if point is None else (point.file, point.line, point.column)
    rows = [
        f"--- !{remark.kind.value}",
        _row("Pass", _scalar(remark.category)),
        _row("Name", _scalar(remark.name)),
        _row("DebugLoc", f"{{ File: {_scalar(file)}, Line: {line}, Column: {column} }}"),
        _row("Function", _scalar(remark.function or _UNKNOWN_FUNCTION)),
        "Args:",
        *(f"  - {_row(name, _scalar(value))}" for name, value in remark.arguments),
        "...",
    ]
    return "".join(f"{row}\n" for row in rows)


def _row(key: str, value: str) -> str:
    return f"{key}:".ljust(_COLUMN) + value


def _scalar(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _KEYWORDS:
        return text
    if text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else f"\\U{ord(character):08X}"
