"""`--compiled`: asks the compiler of a machine for each program of a run."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import PurePath

from sdyopt.analysis.execution.process import NoJax, NotValidated, Worker
from sdyopt.analysis.figures.figures import Compiled, Report
from sdyopt.analysis.figures.program_report import report_on
from sdyopt.analysis.figures.topology import read_topology
from sdyopt.analysis.hlo_comparison.compiled import Options
from sdyopt.analysis.hlo_comparison.compiled.compilation import Compilation, CompileTarget, compilation_error
from sdyopt.analysis.hlo_comparison.hlo_comparison import FORMATS, sections_of
from sdyopt.analysis.interface import Analysis, Program, Run
from sdyopt.analysis.interface.flag import STDOUT
from sdyopt.analysis.report.sections import compiled_section
from sdyopt.analysis.report.text_report import section_lines
from sdyopt.base.diagnostics.ids import TOPOLOGY_ERROR, identified


class Compiling(Analysis[Options]):
    """The compilations of one run. A topology with mistakes is located in its file."""

    phase = "Compilation"

    def __init__(self, options: Options, run: Run) -> None:
        super().__init__(options, run)
        if options.compiled != STDOUT:
            run.check_is_one_chunk(f"--compiled={options.compiled} is one file", "compile each chunk alone")
        assert options.speeds is not None
        with identified(TOPOLOGY_ERROR):
            self._topology = read_topology(*options.speeds)
        # None if the input is no program.
        self._compilation: Compilation | None = None

    def on_input(self, program: Program) -> None:
        # What is compiled is the program of the user: the compiler propagates and partitions it as well.
        self._compilation = Compilation(program.op, self._topology, Worker(*self.options.jax, 0))
        program.compiled = partial(self._figures, program)

    def _figures(self, program: Program, report: Report) -> Compiled:
        assert self._compilation is not None
        try:
            with compiling(self._compilation.target(report)):
                return self._compilation.figures(report)
        except (NoJax, NotValidated) as failure:
            raise compilation_error(program.op, failure) from None

    def on_output(self, program: Program) -> None:
        if not self.options.is_shown:
            report = report_on(program.op, self._topology)
            if self.options.memory is not None:
                report.device_memory = self.options.memory
            compiled = self._figures(program, report)
            if self.options.replaces_output:
                assert self._compilation is not None and self._compilation.comparison is not None
                sections = [compiled_section(report, compiled), *sections_of(self._compilation.comparison)]
                lines = section_lines([], sections, self.run.width, self.options.rows or None)
                self.texts.append("".join(f"{line.rstrip()}\n" for line in lines))

    def on_end(self) -> None:
        if self._compilation is None:
            return
        path, text, comparison = self.options.compiled, self._compilation.text, self._compilation.comparison
        if path is not None and path != STDOUT and text is not None and comparison is not None:
            suffix = PurePath(path).suffix
            self.run.write_file(path, text.hlo if suffix == ".hlo" else FORMATS[suffix](comparison))


@contextmanager
def compiling(target: CompileTarget) -> Iterator[None]:
    """Shows on a terminal what is compiled, and for how long."""
    if sys.stderr is None or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield
        return
    from rich.console import Console  # noqa: PLC0415 - rich is slow to import, and only terminals need it
    from rich.progress import Progress, SpinnerColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = SpinnerColumn(), f"compiling for {target}", TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        bar.add_task("", total=None)
        yield
