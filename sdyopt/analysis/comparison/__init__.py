"""Differences between two programs, or a program and a report.

They are found in the values of programs as plain data (`program_values`), so that a file can take the place
of a program. `alignment` and `matching` find the values of both programs that correspond.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdyopt.analysis.interface import AnalysisOptions, Request
from sdyopt.analysis.interface.flag import REPORTS, TextFile, Writes, flag
from sdyopt.base.dataclasses import replace
from sdyopt.base.diagnostics.usage import UsageError
from sdyopt.base.releases import RELEASE_NAMES

REPORT_SUFFIX = ".json"

if TYPE_CHECKING:  # imported only for comparisons
    from sdyopt.analysis.comparison.other_program import OtherProgram


class Options(AnalysisOptions):
    """The comparison of the program after the passes with another one, or with a report.

    Once the options are prepared, they have the other program. `rows` limits each table on stdout, and `jax`
    is the Python with the compiler of both programs, and its limit in seconds; None without --compiled.
    """

    order, group = 50, REPORTS
    compare_with: str | None = flag(
        default=None,
        placeholder="FILE",
        reads=True,
        is_common=True,
        help="print what differs from another program or report (.json) instead of the program",
    )
    compare_pipeline: str | None = flag(
        default=None,
        placeholder="PASSES",
        help="run these passes on the other program, which is the input unless --compare-with names one "
        "(default: the passes of this run)",
    )
    compare_sdy_version: str | None = flag(
        default=None,
        choices=RELEASE_NAMES,
        help="run the passes of this release of Shardy on the other program, which is the input unless "
        "--compare-with names one",
    )
    compare_output: str | None = flag(
        default=None,
        placeholder="FILE",
        writes=Writes("the comparison", "comparison.md"),
        help="write the comparison to FILE (.html, .json, .md or .txt) instead of stdout",
    )
    other: OtherProgram | None = None
    rows: int | None = None
    speeds: TextFile | None = None
    jax: tuple[str, int] | None = None

    @property
    def is_needed(self) -> bool:
        others = (self.compare_with, self.compare_pipeline, self.compare_sdy_version)
        return any(other is not None for other in others)

    @property
    def needs_collectives(self) -> bool:
        return self.compare_pipeline is None

    @property
    def replaces_output(self) -> bool:
        return self.is_needed and self.compare_output is None

    def prepared(self, request: Request) -> Options:
        if not self.is_needed:
            if self.compare_output is not None:
                message = "the --compare-output option has nothing to compare"
                raise UsageError(message, "add --compare-with=FILE or --compare-pipeline=PASSES")
            return self
        if self.compare_output is not None:
            from sdyopt.analysis.comparison.comparison_formats import check_comparison_format

            check_comparison_format(self.compare_output)
        from sdyopt.analysis.comparison.other_program import other_program

        other = other_program(request, self.compare_with, self.compare_pipeline, self.compare_sdy_version)
        from sdyopt.analysis.figures.machines import topology_file

        rows = request["report-rows"] or None
        is_compiled = request["compiled"] is not None and not other.name.endswith(REPORT_SUFFIX)
        jax = (request["jax-python"] or "", request["validate-timeout"]) if is_compiled else None
        return replace(self, other=other, rows=rows, speeds=topology_file(request), jax=jax)
