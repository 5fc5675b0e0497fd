"""`--mesh-sweep`: the figures of the programs of a run on meshes of other sizes."""

from __future__ import annotations

from pathlib import PurePath

from sdyopt.analysis.execution.process import NoJax, Worker
from sdyopt.analysis.figures.topology import read_topology
from sdyopt.analysis.hlo_comparison.compiled.analysis import Compiler, compilation_error, target_of
from sdyopt.analysis.interface import Analysis, Program, Run
from sdyopt.analysis.mesh_sweep import Options
from sdyopt.analysis.mesh_sweep.formats import FORMATS
from sdyopt.analysis.mesh_sweep.sweep import check_axes, memory_of, read_sizes, run_sweep, sweep_text
from sdyopt.base.diagnostics.ids import TOPOLOGY_ERROR, identified
from sdyopt.base.releases import followed_release


class Sweeping(Analysis[Options]):
    """The sweeps of one run. Raises UsageError for axes that cannot be changed."""

    phase = "Sweep"

    def __init__(self, options: Options, run: Run) -> None:
        super().__init__(options, run)
        if (path := options.mesh_sweep_output) is not None:
            help = "sweep each chunk in a run of its own"
            run.check_is_one_chunk(f"--mesh-sweep-output={path} is one file", help)
        with identified(TOPOLOGY_ERROR):
            self._memory = memory_of(options.memory, options.speeds)

    def before_passes(self, program: Program) -> None:
        """Runs the passes in other processes, for each mesh. Prints the program as it was."""
        sizes = self.options.mesh_sweep or ""
        axes = read_sizes(sizes)
        check_axes(program.op, list(axes), sizes)
        if self.options.compiler is not None and self.options.speeds is not None:
            python, seconds = self.options.compiler
            target = target_of(read_topology(*self.options.speeds), "")
            try:
                Compiler(Worker(python, seconds), target).versions  # noqa: B018 - raises without the compiler
            except NoJax as failure:
                raise compilation_error(program.op, failure) from None
        request = {
            "text": program.source.text,
            "name": program.source.name,
            "shardy": followed_release().name,
            "pipeline": "" if program.assumption else str(program.pipeline),
            "topology": None if self.options.speeds is None else list(self.options.speeds),
            "compiler": self.options.compiler,
        }
        sweep, path = run_sweep(request, axes, self._memory), self.options.mesh_sweep_output
        if path is None:
            self.texts.append(sweep_text(sweep, self.run.width))
        else:
            self.run.write_file(path, FORMATS[PurePath(path).suffix](sweep))
        if program.printed is None:
            program.printed = program.op
