"""The table of explanations: message -> culprit and help.

    @explains(r'unknown axis name: "(?P<axis>.*)"')
    def _unknown_axis(case: Case) -> Explanation:
        return Explanation([text(f'"{case["axis"]}"')], help="…")

A message identifies a diagnostic: its wording is that of MLIR, StableHLO or Shardy, on which other tools
rely, too. The first pattern that occurs in a message explains it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from sdyopt.dataclasses import dataclass
from sdyopt.error_help.culprit import Step
from sdyopt.error_help.statement import Statement
from sdyopt.ir.dialect import DialectTable
from sdyopt.ir.operation import Op


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
