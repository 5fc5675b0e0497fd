"""Snapshots: the shardings of a program as a file with a line for each value, and the check against one."""

from __future__ import annotations

from pathlib import PurePath

from sdyopt.analysis.interface import AnalysisOptions, Request
from sdyopt.analysis.interface.flag import REPORTS, STDOUT, TextFile, Writes, flag
from sdyopt.base.diagnostics.usage import UsageError

_SUFFIX = ".json"


class Options(AnalysisOptions):
    """The snapshot of the program after the passes, and the check against an earlier one."""

    order, group = 60, REPORTS
    snapshot: str | None = flag(
        default=None,
        implied=STDOUT,
        placeholder="FILE",
        writes=Writes("the snapshot", "shardings.json", takes_dash=True),
        help="print the shardings of values as JSON instead of the program, or write them to FILE",
    )
    snapshot_places: tuple[str, ...] = flag(
        default=(),
        placeholder="TEXT,…",
        needs=("snapshot", "check-snapshot"),
        help="limit the values of a snapshot to those whose name stack or file contains one of these texts",
    )
    check_snapshot: TextFile | None = flag(
        default=None,
        placeholder="FILE",
        help="fail if shardings differ from a snapshot, which --snapshot=FILE wrote",
    )

    @property
    def is_needed(self) -> bool:
        return self.snapshot is not None or self.check_snapshot is not None

    @property
    def replaces_output(self) -> bool:
        return self.snapshot == STDOUT

    @property
    def hides_unchanged(self) -> bool:
        return True

    def prepared(self, request: Request) -> Options:
        path = self.snapshot
        if path and path != STDOUT and PurePath(path).suffix != _SUFFIX:
            message = f"for the --snapshot option: '{path}' does not end with {_SUFFIX}"
            raise UsageError(message, "such as shardings.json")
        if self.replaces_output and request.prints_other(self):
            message = "the --snapshot option prints on stdout, and so does another one"
            raise UsageError(message, "write the snapshot to a file with --snapshot=FILE.json")
        return self
