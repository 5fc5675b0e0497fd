"""Answers the questions of a run about each of its programs."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from functools import cached_property

from sdyopt.analysis.explain import Options
from sdyopt.analysis.explain.explainer import ShardingExplainer
from sdyopt.analysis.explain.names import recorded
from sdyopt.analysis.explain.targets import Target
from sdyopt.analysis.figures.topology import read_topology
from sdyopt.analysis.interface import Analysis, Program, Run
from sdyopt.base.diagnostics.diagnostic import DiagnosticError, emit
from sdyopt.base.diagnostics.ids import TOPOLOGY_ERROR, identified


class Answering(Analysis[Options]):
    """The answers of one run."""

    def __init__(self, options: Options, run: Run) -> None:
        super().__init__(options, run)
        with identified(TOPOLOGY_ERROR):
            self._topology = None if options.speeds is None else read_topology(*options.speeds)
        self._explainer: ShardingExplainer
        self._targets: list[Target] = []
        self._answers = ""
        # Why each question is about nothing in the programs so far.
        self._unknown: dict[str, DiagnosticError] = {}
        self._known: set[str] = set()

    def on_input(self, program: Program) -> None:
        """Finds what the questions are about. Raises DiagnosticError if one names nothing in one program.

        Of several programs, one is to have it.
        """
        self._explainer = ShardingExplainer(program.shared(recorded))
        self._targets, self._answers = [], ""
        for question in self.options.explain:
            try:
                self._targets.append(self._explainer.target(question))
                self._known.add(question)
            except DiagnosticError as error:
                if self._is_of_one_program:
                    raise
                self._unknown.setdefault(question, error)

    @cached_property
    def _is_of_one_program(self) -> bool:
        try:
            self.run.check_is_one_chunk("", "")
        except DiagnosticError:
            return False
        return True

    def around_passes(self, program: Program) -> AbstractContextManager[None]:
        return program.shared(recorded).recording()

    def on_result(self, program: Program) -> None:
        """Answers the questions. Raises DiagnosticError if nothing was propagated."""
        if program.shared(recorded).is_recorded:
            self._explainer.advice.is_assumed = bool(program.assumption)
            self._explainer.advice.machine = self._topology
            self._explainer.advice.memory = self.options.memory
            self._explainer.advice.jobs = os.cpu_count() or 1
            answers = (self._explainer.answer(target, self.run.width) for target in self._targets)
            self._answers = "\n".join(answers)

    def on_output(self, program: Program) -> None:
        """Shows the answers, because nothing has failed since."""
        if self._answers:
            assumption = f"{program.assumption}\n\n" if program.assumption else ""
            self.texts.append(assumption + self._answers)

    def on_end(self) -> None:
        """Says which questions are about nothing in any of several programs."""
        for question, error in self._unknown.items():
            if question not in self._known:
                emit(error.diagnostic)
                self.is_passed = False
