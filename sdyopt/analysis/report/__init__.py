"""Reports: the figures of a program as text and files, and the checks of a budget and a baseline."""

from __future__ import annotations

import re

from sdyopt.analysis.interface import AnalysisOptions, Request
from sdyopt.analysis.interface.flag import REPORTS, STDOUT, TextFile, Writes, flag
from sdyopt.base.dataclasses import replace
from sdyopt.base.diagnostics.usage import UsageError

# Those of `groupings`.
GROUPINGS = ("auto", "line", "call-site", "scope", "weight", "function")


class Options(AnalysisOptions):
    """The report on the program after the passes, and the checks of its figures.

    The suffix of the file selects the format. `report_rows` limits each table on stdout; 0 is no limit.
    `tolerance` is the percentage by which figures may exceed those of the baseline.
    """

    order, group = 40, REPORTS
    report: str | None = flag(
        default=None,
        implied=STDOUT,
        placeholder="FILE",
        writes=Writes("the report", "report.html", takes_dash=True),
        is_common=True,
        help="print communication, memory and compute, or write them to FILE (.html, .json, .md or .txt)",
    )
    report_rows: int = flag(
        default=5,
        placeholder="N",
        needs=(
            "report",
            "advise",
            "compiled",
            "compare-hlo",
            "compare-with",
            "compare-pipeline",
            "compare-sdy-version",
        ),
        help="print at most N rows of each table, all for 0",
    )
    group_by: str = flag(
        default="auto",
        choices=GROUPINGS,
        needs=("report",),
        help="group the collectives of the report by line, by the line that calls a helper, by named scope, "
        "by weight, or by function; by default, by what tells them apart",
    )
    source_root: str | None = flag(
        default=None,
        placeholder="FOLDER",
        needs=("report",),
        help="show the source files of this folder in a report as .html, none if it is empty (default: those "
        "found below the current folder and that of the input)",
    )
    topology: str | None = flag(
        default=None,
        placeholder="NAME",
        reads=True,
        is_common=True,
        help="add estimated times, for a machine such as tpu-v5e or the speeds in a TOML file",
    )
    device_memory: str | None = flag(
        default=None,
        placeholder="SIZE",
        needs=("report", "check", "lint", "explain", "advise", "compiled", "mesh-sweep"),
        help="report whether the program fits in the memory of a device, such as 16GiB (default: that of "
        "--topology)",
    )
    budget: TextFile | None = flag(
        default=None,
        placeholder="FILE",
        is_common=True,
        help="fail if the report exceeds a limit of this TOML file",
    )
    baseline: TextFile | None = flag(
        default=None,
        placeholder="FILE",
        help="fail if the report exceeds this report, written as .json",
    )
    tolerance: str = flag(
        default="0",
        placeholder="PERCENT",
        needs=("baseline",),
        help="allow figures to exceed the baseline by PERCENT",
    )

    budget_allow_unknown: bool = flag(
        default=False,
        needs=("budget",),
        help="warn of figures that are unknown and have a limit, instead of failing",
    )
    assume_trips: tuple[str, ...] = flag(
        default=(),
        placeholder="[LINE=]N",
        needs=("report", "check", "budget", "baseline"),
        repeats=True,
        help="assume N iterations of the loop at LINE, or of all loops, where the program does not tell",
    )
    speeds: TextFile | None = None
    memory: int | None = None

    @property
    def is_needed(self) -> bool:
        return not (self.report is None and self.budget is None and self.baseline is None)

    @property
    def needs_collectives(self) -> bool:
        return True

    @property
    def replaces_output(self) -> bool:
        return self.report == STDOUT

    def prepared(self, request: Request) -> Options:
        if self.report and not self.replaces_output:
            from sdyopt.analysis.report.formats import check_format

            check_format(self.report)
        comparisons = ("compare-with", "compare-pipeline", "compare-sdy-version")
        users = ("check", "lint", "explain", "advise", "mesh-sweep", *comparisons)
        uses = [self.report, *(request[name] for name in users)]
        uses += [request[name] is not None for name in ("budget", "compiled", "compare-hlo")]
        if self.topology is not None and not any(uses):
            message = "the --topology option is the machine of figures and changes, and nothing asks for them"
            help = (
                "add --report, --check, --lint, --explain, --advise, --budget, --compare-with or --mesh-sweep"
            )
            raise UsageError(message, help)
        if re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,9})?", self.tolerance) is None:
            message = f"for the --tolerance option: '{self.tolerance}' is not a percentage"
            raise UsageError(message, "such as 2.5")
        for text in self.assume_trips:
            if re.fullmatch(r"(?:[0-9]{1,9}=)?[0-9]{1,12}", text) is None:
                message = f"for the --assume-trips option: '{text}' is not LINE=N or N"
                raise UsageError(message, "such as --assume-trips=12=64, or --assume-trips=64 for all loops")
        if self.topology is None and self.device_memory is None:
            return self
        from sdyopt.analysis.figures.machines import memory_size, topology_file

        memory = memory_size("device-memory", self.device_memory)
        return replace(self, speeds=topology_file(request), memory=memory)
