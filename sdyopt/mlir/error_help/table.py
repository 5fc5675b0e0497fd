"""The table of explanations: message -> culprit and help.

    @explains(r'unknown axis name: "(?P<axis>.*)"')
    def _unknown_axis(case: Case) -> Explanation:
        return Explanation([text(f'"{case["axis"]}"')], help="…")

A message identifies a diagnostic: its wording is that of MLIR, StableHLO or Shardy, on which other tools
rely, too. The first pattern that occurs in a message explains it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from sdyopt.base.dataclasses import dataclass
from sdyopt.base.diagnostics.usage import closest
from sdyopt.mlir.error_help.culprit import Step
from sdyopt.mlir.error_help.statement import Statement
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.operation import Op


@dataclass(frozen=True)
class Explanation:
    """The steps that find the culprit in the statement, and the help.

    `token` is the offset of the culprit, a single token, if it is known.
    """

    steps: Sequence[Step] = ()
    help: str = ""
    token: int | None = None


@dataclass(frozen=True)
class Case:
    """A diagnostic to explain: the match of its message, and what is known of it.

    `text` is the source and `offset` the position of the diagnostic in it, -1 if that is unknown. `statement`
    starts at `offset`; `op` is the operation that the diagnostic is about.
    """

    match: re.Match[str]
    text: str
    offset: int
    dialects: DialectTable
    op: Op | None = None
    statement: Statement | None = None

    def __getitem__(self, group: str) -> str:
        return self.match[group] or ""


Explain = Callable[[Case], Explanation]

EXPLANATIONS: list[tuple[re.Pattern[str], Explain]] = []


def explains(pattern: str) -> Callable[[Explain], Explain]:
    """Decorator of the function that explains the messages in which a pattern occurs."""

    def add(function: Explain) -> Explain:
        EXPLANATIONS.append((re.compile(pattern, re.DOTALL), function))
        return function

    return add


# A list with more names is shortened to this number.
MAX_LISTED = 8
# Comparing names is slow: the maximum number of names to compare, and their maximum length.
MAX_COMPARED, MAX_LENGTH = 5_000, 100


def backticked(name: str) -> str:
    """A name as it is written in help."""
    return f"`{name}`"


def did_you_mean(name: str, names: Iterable[str], show: Callable[[str], str] = backticked) -> str:
    """``did you mean `x`?`` for the most similar name; empty if none is similar."""
    others = [other for other in names if other != name and len(other) <= MAX_LENGTH][:MAX_COMPARED]
    same = next((other for other in others if other.lower() == name.lower()), None)
    match = same or (closest(name, others) if len(name) <= MAX_LENGTH else None)
    return "" if match is None else f"did you mean {show(match)}?"


def listed(names: Iterable[str], limit: int = MAX_LISTED) -> str:
    """`a, b, c`, or `a, b, … (12 in all)` for a long list."""
    names = list(names)
    if len(names) <= limit:
        return ", ".join(names)
    return f"{', '.join(names[:limit])}, … ({len(names)} in all)"


def sentences(*parts: str) -> str:
    """The parts that are not empty, as one help text."""
    return "; ".join(part for part in parts if part).replace("?; ", "? ")


def counted(number: int, noun: str) -> str:
    """`1 value`, `2 values`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
