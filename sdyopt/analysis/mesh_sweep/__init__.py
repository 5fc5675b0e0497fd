"""The sweep over mesh sizes: what the same program sends and stores on meshes of other sizes and shapes."""

from __future__ import annotations

from sdyopt.analysis.interface import AnalysisOptions, Request
from sdyopt.analysis.interface.flag import REPORTS, TextFile, Writes, flag
from sdyopt.base.dataclasses import replace
from sdyopt.base.diagnostics.usage import UsageError


class Options(AnalysisOptions):
    """The sizes of axes to try. `memory` are the bytes of a device, `speeds` is the file of --topology.

    `compiler` is the Python with the compiler of the machine, and its limit in seconds, with --compiled.
    """

    order, group = 36, REPORTS
    needs_module = True
    mesh_sweep: str | None = flag(
        default=None,
        placeholder="SIZES",
        is_common=True,
        help="print figures for other meshes, such as 'dp=1..64'",
    )
    mesh_sweep_output: str | None = flag(
        default=None,
        placeholder="FILE",
        needs=("mesh-sweep",),
        writes=Writes("the sweep", "sweep.html"),
        help="write the figures of --mesh-sweep to FILE (.html, .json, .md or .txt) instead of stdout",
    )
    memory: int | None = None
    speeds: TextFile | None = None
    compiler: tuple[str, int] | None = None

    @property
    def is_needed(self) -> bool:
        return self.mesh_sweep is not None

    @property
    def needs_collectives(self) -> bool:
        return True

    @property
    def replaces_output(self) -> bool:
        return self.is_needed

    def prepared(self, request: Request) -> Options:
        if self.mesh_sweep is None:
            return self
        from sdyopt.analysis.mesh_sweep.formats import FORMATS
        from sdyopt.analysis.mesh_sweep.sweep import read_sizes
        from sdyopt.analysis.report.formats import check_suffix

        read_sizes(self.mesh_sweep)
        if self.mesh_sweep_output is not None:
            check_suffix(self.mesh_sweep_output, FORMATS, "sweep")
        if request["check"]:
            raise UsageError("the --mesh-sweep option cannot be used with --check", "run sdy-opt twice")
        from sdyopt.analysis.figures.machines import memory_size, topology_file

        memory = memory_size("device-memory", request["device-memory"])
        compiler = None
        if request["compiled"] is not None:
            compiler = request["jax-python"] or "", request["validate-timeout"]
        return replace(self, memory=memory, speeds=topology_file(request), compiler=compiler)
