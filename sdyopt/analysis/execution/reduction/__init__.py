"""Reduction: makes a program small while a command still succeeds for it."""

from __future__ import annotations

from sdyopt.analysis.interface import AnalysisOptions, Request
from sdyopt.analysis.interface.flag import VALIDATION, flag
from sdyopt.base.diagnostics.usage import UsageError


class Options(AnalysisOptions):
    """The reduction of a program after the passes."""

    order, group = 5, VALIDATION
    needs_module = True
    reduce: str | None = flag(
        default=None,
        placeholder="COMMAND",
        help="make the program after the passes small, while COMMAND ends with exit status 0; a shell runs "
        "it, and %s in it is a file with the program",
    )
    reduce_timeout: int = flag(
        default=60,
        placeholder="SECONDS",
        minimum=1,
        needs=("reduce",),
        help="a COMMAND of --reduce that takes more than SECONDS fails",
    )

    @property
    def is_needed(self) -> bool:
        return self.reduce is not None

    def prepared(self, request: Request) -> Options:
        if self.reduce is not None and "%s" not in self.reduce:
            help = "%s stands for the file with the program, as in --reduce='! sdy-opt %s -cse'"
            raise UsageError("for the --reduce option: the command has no %s", help)
        return self
