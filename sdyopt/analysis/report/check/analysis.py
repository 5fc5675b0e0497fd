"""`--check`: the check of the programs of a run."""

from __future__ import annotations

import os

from sdyopt.analysis.figures.execution_counts import assumed_trips
from sdyopt.analysis.figures.topology import read_topology
from sdyopt.analysis.interface import Analysis, Program, Run
from sdyopt.analysis.interface.flag import STDOUT
from sdyopt.analysis.report.check import Options, checks_of
from sdyopt.analysis.report.check.check_json import check_json
from sdyopt.analysis.report.check.check_text import FULL_WIDTH, check_text
from sdyopt.analysis.report.check.checker import Checker
from sdyopt.base.diagnostics.ids import TOPOLOGY_ERROR, identified
from sdyopt.mlir.ir.operation import Op


class Checking(Analysis[Options]):
    """The checks of one run. A topology with mistakes is located in its file."""

    phase = "Check"

    def __init__(self, options: Options, run: Run) -> None:
        super().__init__(options, run)
        if (path := options.check) is not None and path != STDOUT:
            run.check_is_one_chunk(f"--check={path} is one file", "check each chunk in a run of its own")
        with identified(TOPOLOGY_ERROR):
            self._topology = None if options.speeds is None else read_topology(*options.speeds)
        self._memory, self._trips = options.memory, assumed_trips(options.trips)
        self._checker: Checker

    def on_input(self, program: Program) -> None:
        has_passes = bool(program.pipeline.elements) and not program.assumption
        self._checker = Checker(program.op, has_passes, self._topology, os.cpu_count() or 1, self._trips)

    def partitioned(self, program: Program) -> Op | None:
        return self._checker.partitioned(program.verify)

    def on_output(self, program: Program) -> None:
        report = self._checker.report_on(program.op)
        report.assumption = program.assumption
        if self._memory is not None:
            report.device_memory = self._memory
        report.compiled = program.compiled(report)
        check = self._checker.check(report, self._memory)
        program.shared(checks_of).append(check)
        path = self.options.check
        if path == STDOUT:
            self.texts.append(check_text(check, self.run.width))
        elif path is not None:
            text = check_json(check) if path.endswith(".json") else check_text(check, FULL_WIDTH)
            self.run.write_file(path, text)
