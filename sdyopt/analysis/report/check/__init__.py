"""The check: figures of a program, the places that cost most, and changes that were tried there."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from sdyopt.analysis.interface import AnalysisOptions, Program, Request
from sdyopt.analysis.interface.flag import REPORTS, STDOUT, TextFile, Writes, flag
from sdyopt.base.dataclasses import replace
from sdyopt.base.diagnostics.usage import UsageError

if TYPE_CHECKING:  # every run imports the declarations of flags
    from sdyopt.analysis.report.check.checker import CheckResult

SUFFIXES = (".json", ".txt")


def checks_of(_: Program) -> list[CheckResult]:
    """The checks of a program, to be shared: its check once it is done."""
    return []


class Options(AnalysisOptions):
    """The check of a program after the passes.

    `speeds` is the file of --topology, `memory` the bytes of a device, and `trips` what --assume-trips says.
    """

    order, group = 35, REPORTS
    needs_module = True
    check: str | None = flag(
        default=None,
        implied=STDOUT,
        placeholder="FILE",
        writes=Writes("the check", "check.json", takes_dash=True),
        is_common=True,
        help="print what the program sends and stores, where, and what helps, or write it to FILE (.json "
        "or .txt)",
    )
    speeds: TextFile | None = None
    memory: int | None = None
    trips: tuple[str, ...] = ()

    @property
    def is_needed(self) -> bool:
        return self.check is not None

    @property
    def needs_collectives(self) -> bool:
        return True

    @property
    def replaces_output(self) -> bool:
        return self.check == STDOUT

    def prepared(self, request: Request) -> Options:
        if self.check is None:
            return self
        if self.check != STDOUT and PurePath(self.check).suffix not in SUFFIXES:
            message = f"for the --check option: '{self.check}' has the suffix of no format"
            raise UsageError(message, f"choose from {', '.join(SUFFIXES)}")
        from sdyopt.analysis.figures.machines import memory_size, topology_file

        memory = memory_size("device-memory", request["device-memory"])
        return replace(self, speeds=topology_file(request), memory=memory, trips=request["assume-trips"])
