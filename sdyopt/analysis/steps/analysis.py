"""Writes the page of the steps of propagation."""

from __future__ import annotations

from contextlib import AbstractContextManager

from sdyopt.analysis.explain.recorded_program import recorded
from sdyopt.analysis.interface import Analysis, Program, Run
from sdyopt.analysis.steps import Options
from sdyopt.analysis.steps.steps_page import steps_page


class Stepping(Analysis[Options]):
    """The page of one run."""

    def __init__(self, options: Options, run: Run) -> None:
        super().__init__(options, run)
        help = "write the steps of each chunk in a file of its own"
        run.check_is_one_chunk(f"--explain-steps={options.explain_steps} is one file", help)

    def on_input(self, program: Program) -> None:
        program.shared(recorded)

    def around_passes(self, program: Program) -> AbstractContextManager[None]:
        return program.shared(recorded).recording()

    def on_result(self, program: Program) -> None:
        """Writes the page. Raises DiagnosticError if nothing was propagated."""
        path = self.options.explain_steps
        if path is not None and program.shared(recorded).is_recorded:
            self.run.write_file(path, steps_page(program.shared(recorded)))
