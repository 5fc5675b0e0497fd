"""The figures of a machine's compiler, which compiles without the machine, beside those estimated."""

from __future__ import annotations

from pathlib import PurePath

from sdyopt.analysis.interface import AnalysisOptions, Request
from sdyopt.analysis.interface.flag import REPORTS, STDOUT, TextFile, Writes, flag
from sdyopt.base.dataclasses import replace
from sdyopt.base.diagnostics.usage import UsageError

SUFFIXES = (".hlo", ".json", ".md", ".txt")
# Analyses that show the figures of the compiler among their own.
_SHOWING = ("report", "check", "budget", "mesh-sweep", "advise", "compare-with")


class Options(AnalysisOptions):
    """The compilation of the program as it was read, for the machine of --topology.

    Once the options are prepared, `speeds` is the file of --topology, `memory` the bytes of a device, `jax`
    the Python with the compiler and its limit in seconds. `is_shown`: another analysis shows the figures.
    """

    order, group = 30, REPORTS
    needs_module = True
    compiled: str | None = flag(
        default=None,
        implied=STDOUT,
        placeholder="FILE",
        writes=Writes("the comparison with the compiled program", "compiled.json", takes_dash=True),
        is_common=True,
        help="ask the compiler of --topology's machine for the figures, or write what it made to FILE (.hlo, "
        ".json, .md or .txt); needs libtpu, or the CUDA plugin of jax",
    )
    speeds: TextFile | None = None
    memory: int | None = None
    jax: tuple[str, int] = "", 600
    rows: int = 5
    is_shown: bool = False

    @property
    def is_needed(self) -> bool:
        return self.compiled is not None

    @property
    def needs_collectives(self) -> bool:
        return True

    @property
    def replaces_output(self) -> bool:
        return self.compiled == STDOUT and not self.is_shown

    def prepared(self, request: Request) -> Options:
        if self.compiled is None:
            return self
        if self.compiled != STDOUT and PurePath(self.compiled).suffix not in SUFFIXES:
            message = f"for the --compiled option: '{self.compiled}' has the suffix of no format"
            raise UsageError(message, f"choose from {', '.join(SUFFIXES)}")
        from sdyopt.analysis.figures.machines import memory_size, topology_file

        speeds = topology_file(request)
        if speeds is None:
            raise UsageError(
                "the --compiled option needs a machine to compile for", "add --topology=tpu-v5e, or another"
            )
        return replace(
            self,
            speeds=speeds,
            memory=memory_size("device-memory", request["device-memory"]),
            jax=(request["jax-python"] or "", request["validate-timeout"]),
            rows=request["report-rows"],
            is_shown=any(request[name] for name in _SHOWING),
        )
