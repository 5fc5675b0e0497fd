"""The check: figures of a program, the places that cost most, and changes that were tried there."""

from __future__ import annotations

from sdyopt.analysis.flag import REPORTS, TextFile, flag
from sdyopt.analysis.interface import AnalysisOptions, Request
from sdyopt.base.dataclasses import replace


class Options(AnalysisOptions):
    """The check of a program after the passes. `speeds` is the file of --topology."""

    order, group = 35, REPORTS
    needs_module = True
    check: bool = flag(
        default=False,
        is_common=True,
        help="print in 12 lines what the program sends, stores and computes, and the places that cost most, "
        "with changes that were tried",
    )
    device_memory: str | None = flag(
        default=None,
        placeholder="SIZE",
        needs=("check", "mesh-sweep"),
        help="the memory of a device, such as 16GiB; --check and --mesh-sweep print whether the program fits",
    )
    speeds: TextFile | None = None

    @property
    def is_needed(self) -> bool:
        return self.check

    @property
    def needs_collectives(self) -> bool:
        return True

    @property
    def replaces_output(self) -> bool:
        return self.is_needed

    def prepared(self, request: Request) -> Options:
        from sdyopt.analysis.check.checker import device_memory

        device_memory(self.device_memory)
        path = request["topology"]
        if path is None:
            return self
        return replace(self, speeds=TextFile(path, request.read(path).decode("utf-8", "surrogateescape")))
