"""Answers why a value is sharded as it is, and why it is not sharded otherwise, from a sharding record.

`recorded_program` records while passes run, and `explainer` answers questions after them. `targets`
finds what a question is about, `answers` builds a tree of sentences, and `tree_text` prints it.
"""

from __future__ import annotations

from sdyopt.analysis.flag import SHARDINGS, flag
from sdyopt.analysis.interface import AnalysisOptions


class Options(AnalysisOptions):
    """The answers to questions about the shardings of a program; see `targets`."""

    order, group = 10, SHARDINGS
    explain: tuple[str, ...] = flag(
        default=(),
        placeholder="WHAT",
        repeats=True,
        help="explain why a value is sharded as it is, such as \"params['w']\", '@main %3', "
        "'@main result 0' or, by its name in the output, 'output %3'; all values of a line, such as "
        "train.py:12; or a collective of the report, such as '#3'",
    )

    @property
    def is_needed(self) -> bool:
        return bool(self.explain)

    @property
    def needs_collectives(self) -> bool:
        return True

    @property
    def replaces_output(self) -> bool:
        return self.is_needed
