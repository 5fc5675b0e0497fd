"""The comparison of a report with the collectives of the program that XLA compiled, from its HLO text."""

from __future__ import annotations

from sdyopt.analysis.interface import AnalysisOptions, Request
from sdyopt.analysis.interface.flag import REPORTS, TextFile, Writes, flag
from sdyopt.base.dataclasses import replace


class Options(AnalysisOptions):
    """The HLO to compare with, after XLA's optimizations, and limits of what it sends.

    `report_rows` is the value of --report-rows. `speeds` is the file of --topology: the report is of what
    the compiler of that machine makes.
    """

    order, group = 45, REPORTS
    needs_module = True
    compare_hlo: TextFile | None = flag(
        default=None,
        placeholder="FILE",
        is_common=True,
        help="compare the collectives with those of optimized HLO",
    )
    compare_hlo_output: str | None = flag(
        default=None,
        placeholder="FILE",
        needs=("compare-hlo",),
        writes=Writes("the comparison with HLO", "hlo.json"),
        help="write the comparison of --compare-hlo to FILE (.json, .md or .txt) instead of stdout",
    )
    hlo_budget: TextFile | None = flag(
        default=None,
        placeholder="FILE",
        needs=("compare-hlo",),
        help="fail if the collectives of that HLO exceed a limit of this TOML file, which is as for --budget",
    )

    report_rows: int = 5
    speeds: TextFile | None = None

    def prepared(self, request: Request) -> Options:
        if self.compare_hlo is not None and self.compare_hlo_output is not None:
            from sdyopt.analysis.hlo_comparison.hlo_comparison import FORMATS
            from sdyopt.analysis.report.formats import check_suffix

            check_suffix(self.compare_hlo_output, FORMATS, "comparison")
        if self.compare_hlo is None:
            return self
        from sdyopt.analysis.figures.machines import topology_file

        return replace(self, report_rows=request["report-rows"], speeds=topology_file(request))

    @property
    def is_needed(self) -> bool:
        return self.compare_hlo is not None

    @property
    def needs_collectives(self) -> bool:
        return True

    @property
    def replaces_output(self) -> bool:
        return self.is_needed
