"""Runs the trials of a program, and prints the advice."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from sdyopt.analysis.advise import Options
from sdyopt.analysis.advise.advice_text import advice_text
from sdyopt.analysis.advise.adviser import TRIED, AdviceResult, Adviser, Show
from sdyopt.analysis.execution.process import NoJax
from sdyopt.analysis.figures.assumed_pipeline import assumed_pipeline
from sdyopt.analysis.figures.topology import Topology, read_topology
from sdyopt.analysis.interface import Analysis, Program, Run
from sdyopt.analysis.interface.flag import STDOUT
from sdyopt.base.diagnostics.ids import TOPOLOGY_ERROR, identified
from sdyopt.mlir.ir.operation import Op


class Advising(Analysis[Options]):
    """The advice of one run."""

    phase = "Advice"

    def __init__(self, options: Options, run: Run) -> None:
        super().__init__(options, run)
        if (path := options.advise) is not None and path != STDOUT:
            help = "print advice on each chunk with --advise, or give each chunk a file of its own"
            run.check_is_one_chunk(f"--advise={path} is one file", help)
        with identified(TOPOLOGY_ERROR):
            self._topology = None if options.topology is None else read_topology(*options.topology)

    def before_passes(self, program: Program) -> None:
        """Prints the program with the best change, before the passes; as it was if there is none."""
        try:
            with progress() as show:
                adviser = Adviser(program.op, program.pipeline, self._topology, self.options, show)
                advice = adviser.advice()
        except NoJax as error:
            raise error.error("verify") from None
        advice.assumption = program.assumption
        path = self.options.advise
        if path == STDOUT:
            self.texts.append(advice_text(advice, ".txt", self.run.width, self.options.rows or None))
        elif path is not None:
            self.run.write_file(path, advice_text(advice, path[path.rindex(".") :]))
        program.printed = advice.program


@contextmanager
def progress() -> Iterator[Show]:
    """Shows on a terminal how many changes are tried, of how many; then how many programs are compiled."""
    is_terminal = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    if not is_terminal:
        yield lambda done, total, what=TRIED: None
        return
    from rich.console import Console  # noqa: PLC0415 - rich is slow to import, and only terminals need it
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn  # noqa: PLC0415

    columns = "{task.description}", BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    # Without a thread that refreshes it, because trials fork.
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
        task = bar.add_task(TRIED, total=None)

        def show(done: int, total: int, what: str = TRIED) -> None:
            bar.update(task, description=what, completed=done, total=total, refresh=True)

        yield show


def advice_of(module: Op, options: Options, topology: Topology | None) -> AdviceResult:
    """The advice on a program for which the pipeline runs that reports assume."""
    assumption, pipeline = assumed_pipeline(module, "" if topology is None else topology.compiler)
    advice = Adviser(module, pipeline, topology, options).advice()
    advice.assumption = assumption
    return advice
