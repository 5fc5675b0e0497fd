"""The lines of a program that need an out_sharding or a reshard if its axes become explicit."""

from __future__ import annotations

from sdyopt.analysis.interface import AnalysisOptions
from sdyopt.analysis.interface.flag import REPORTS, flag


class Options(AnalysisOptions):
    """The lines that JAX rejects if axes are explicit."""

    order, group = 37, REPORTS
    explicit: bool = flag(
        default=False,
        help="print the lines of a program of JAX that need an out_sharding or a reshard if its axes become "
        "explicit",
    )

    @property
    def is_needed(self) -> bool:
        return self.explicit

    @property
    def replaces_output(self) -> bool:
        return self.explicit
