"""A remark, and its text as mlir-opt prints it.

[Passed] axis-propagated | Category:propagation | Function=main | Axis="x", Dimension=0, Value=%0
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from typing import Final

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.diagnostics.expected import MatchTime
from sdyopt.base.diagnostics.location import Location, resolve_file_location
from sdyopt.base.diagnostics.usage import UsageError

PROPAGATION: Final = "propagation"
ANNOTATION: Final = "annotation"
RESHARD: Final = "reshard"

CATEGORIES = (ANNOTATION, PROPAGATION, RESHARD)

# A value that contains one of these is quoted.
_QUOTED = frozenset(" ,{}")


class RemarkKind(Enum):
    """The kind of a remark, as text and YAML spell it."""

    PASSED = "Passed"
    MISSED = "Missed"
    ANALYSIS = "Analysis"
    FAILED = "Failure"


class Remark(NamedTuple):
    """One decision of a pass. `arguments` are names and values."""

    kind: RemarkKind
    category: str
    name: str
    function: str
    location: Location
    arguments: tuple[tuple[str, str], ...]


def remark_text(remark: Remark) -> str:
    """The remark on one line, its arguments sorted by name."""
    parts = [f"[{remark.kind.value}] {remark.name}", f"Category:{remark.category}"]
    if remark.function:
        parts.append(f"Function={remark.function}")
    arguments = [f"{name}={_quoted(value)}" for name, value in sorted(remark.arguments)]
    return " | ".join([*parts, ", ".join(arguments)])


def _quoted(value: str) -> str:
    return f'"{value}"' if _QUOTED.intersection(value) else value


ALL_FLAG = "remarks-filter"
KIND_OF_FLAG: Mapping[str, RemarkKind] = {
    "remarks-filter-passed": RemarkKind.PASSED,
    "remarks-filter-missed": RemarkKind.MISSED,
    "remarks-filter-analyse": RemarkKind.ANALYSIS,
    "remarks-filter-failed": RemarkKind.FAILED,
}

# For all categories, which are a few short names.
_MATCH_SECONDS = 1.0


class RemarkFilter:
    """Selects remarks by kind and category. A filter must match the whole name of a category.

    `filters` map flags to regular expressions; `unmatched` are the flags whose expression matches no
    category. Raises UsageError for an invalid expression, and for one that takes too long to match.
    """

    def __init__(self, filters: Mapping[str, str]) -> None:
        self._shown: dict[RemarkKind, set[str]] = {kind: set() for kind in RemarkKind}
        self.unmatched: list[str] = []
        for flag, text in filters.items():
            categories = _matching(flag, text)
            for kind in RemarkKind if flag == ALL_FLAG else (KIND_OF_FLAG[flag],):
                self._shown[kind] |= categories
            if not categories:
                self.unmatched.append(flag)

    def shows(self, kind: RemarkKind, category: str) -> bool:
        """Whether remarks of a kind and category are shown."""
        return category in self._shown[kind]


def _matching(flag: str, text: str) -> set[str]:
    """The categories that a regular expression matches."""
    time = MatchTime(_MATCH_SECONDS)
    try:
        match = re.compile(text).fullmatch
        return {category for category in CATEGORIES if time.matches(match, category)}
    except TimeoutError:
        message = f"for the --{flag} option: '{text}' takes longer than {_MATCH_SECONDS:g} second to match"
        raise UsageError(message, f"such as {CATEGORIES[1]}, or .* for all categories") from None
    except (re.error, ValueError, RecursionError, OverflowError) as problem:
        message = f"for the --{flag} option: '{text}' is not a regular expression: {problem}"
        raise UsageError(message, f"such as {CATEGORIES[1]}, or .* for all categories") from None


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
