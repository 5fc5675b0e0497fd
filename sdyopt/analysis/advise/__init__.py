"""Advice: which changes of annotations make a program cheaper, each tried on the program before it is said.

`trials` has the search; `adviser` ranks what changes save, and `verification` compiles programs with XLA.
"""

from __future__ import annotations

import os
from pathlib import PurePath

from sdyopt.analysis.interface import AnalysisOptions, Request
from sdyopt.analysis.interface.flag import REPORTS, STDOUT, TextFile, Writes, flag
from sdyopt.base.dataclasses import replace
from sdyopt.base.diagnostics.usage import UsageError

SUFFIXES = (".html", ".json", ".md", ".txt")
PARTITIONERS = XLA, SDY = "xla", "sdy"


class Options(AnalysisOptions):
    """The changes that were tried on the program as it was read.

    Once the options are prepared, `memory` are the bytes of `advise_memory` or of a device, `topology` is the
    file of `--topology`, `jax` the Python that has it with its limits, of seconds and of GiB, and `rows` the
    number of changes that are shown on stdout, 0 for all. `fills_memory`: what saves time may need all of the
    memory. `is_compiled`: the compiler of the machine verifies them. `may_fork`: this process has no threads
    that a fork would lack.
    """

    order, group = 45, REPORTS
    needs_module = True
    advise: str | None = flag(
        default=None,
        implied=STDOUT,
        placeholder="FILE",
        writes=Writes("the advice", "advice.md", takes_dash=True),
        is_common=True,
        help="print changes that make the program cheaper, each tried; -o writes the best program",
    )
    advise_changes: int = flag(
        default=1,
        placeholder="K",
        minimum=1,
        needs=("advise",),
        help="make up to K changes, one after the other (experimental)",
    )
    advise_from_scratch: bool = flag(
        default=False,
        needs=("advise",),
        help="leave out all annotations first, and keep the mesh (experimental)",
    )
    advise_memory: str = flag(
        default="",
        placeholder="SIZE",
        needs=("advise",),
        help="propose nothing whose peak memory is above SIZE, such as 16GiB, unless the program is above it "
        "too; then what lowers it most (default: --device-memory)",
    )
    advise_seconds: int = flag(
        default=0,
        placeholder="S",
        needs=("advise",),
        help="end after S seconds, with the best changes so far (default: no limit)",
    )
    advise_partitioner: str = flag(
        default=XLA,
        choices=PARTITIONERS,
        needs=("advise",),
        help="count reshards of activations as if whole tensors were moved, as XLA may do, or as "
        "sdy-partition-pipeline does them",
    )
    advise_jobs: int = flag(
        default=0,
        placeholder="N",
        needs=("advise",),
        help="run N trials at the same time (default: one for each processor)",
    )
    advise_verify: bool = flag(
        default=False,
        needs=("advise",),
        help="compile the program before and after each change with XLA for the CPU, or with --compiled for "
        "the machine of --topology, print what XLA sends and its time, and leave out changes with which it "
        "sends no less and takes no less time (needs jax)",
    )
    memory: int | None = None
    fills_memory: bool = False
    jax: tuple[str, int, int] = "", 300, 8
    topology: TextFile | None = None
    rows: int = 5
    is_compiled: bool = False
    may_fork: bool = True

    @property
    def is_needed(self) -> bool:
        return self.advise is not None

    @property
    def replaces_output(self) -> bool:
        return self.advise == STDOUT

    @property
    def needs_collectives(self) -> bool:
        return True

    @property
    def jobs(self) -> int:
        """The number of trials that run at the same time."""
        return self.advise_jobs or os.cpu_count() or 1

    def prepared(self, request: Request) -> Options:
        if self.advise and not self.replaces_output and PurePath(self.advise).suffix not in SUFFIXES:
            message = f"for the --advise option: '{self.advise}' has the suffix of no format of advice"
            raise UsageError(message, f"choose from {', '.join(SUFFIXES)}")
        if self.is_needed and request.pipeline.elements:
            message = "the --advise option runs sdy-jax-pipeline on changed programs, and takes no passes"
            raise UsageError(message, "leave the passes out")
        if not self.is_needed:
            return self
        from sdyopt.analysis.figures.machines import memory_size, topology_file

        memory = memory_size("advise-memory", self.advise_memory)
        if memory is None:
            memory = memory_size("device-memory", request["device-memory"])
        jax = request["jax-python"] or "", request["validate-timeout"], request["validate-memory"]
        topology, rows = topology_file(request), request["report-rows"]
        is_compiled = request["compiled"] is not None
        return replace(
            self,
            topology=topology,
            memory=memory,
            fills_memory=bool(self.advise_memory),
            rows=rows,
            jax=jax,
            is_compiled=is_compiled,
            advise_verify=self.advise_verify or is_compiled,
        )
