"""The steps of propagation as one HTML file: the program, a slider, and the factor table of each step."""

from __future__ import annotations

from pathlib import PurePath

from sdyopt.analysis.interface import AnalysisOptions, Request
from sdyopt.analysis.interface.flag import SHARDINGS, Writes, flag
from sdyopt.base.diagnostics.usage import UsageError

_SUFFIX = ".html"


class Options(AnalysisOptions):
    """The page of the steps of propagation."""

    order, group = 20, SHARDINGS
    needs_parse_record = True
    explain_steps: str | None = flag(
        default=None,
        placeholder="FILE",
        writes=Writes("the steps", "steps.html", is_plural=True),
        help="write a page with the steps of propagation",
    )

    @property
    def is_needed(self) -> bool:
        return bool(self.explain_steps)

    def prepared(self, request: Request) -> Options:
        path = self.explain_steps
        if path and PurePath(path).suffix != _SUFFIX:
            message = f"for the --explain-steps option: '{path}' does not end with {_SUFFIX}"
            raise UsageError(message, "such as steps.html")
        return self
