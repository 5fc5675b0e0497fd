"""Writes the snapshot of a job's program, and checks it against an earlier one."""

from __future__ import annotations

from collections.abc import Callable

from sdyopt.analysis.comparison.program_values import values_of
from sdyopt.analysis.snapshot.snapshot import snapshot_of
from sdyopt.analysis.snapshot.snapshot_check import SnapshotCheck
from sdyopt.analysis.snapshot.snapshot_file import snapshot_text
from sdyopt.diagnostics.diagnostic import emit
from sdyopt.diagnostics.ids import SNAPSHOT_DIFFERENCE, SNAPSHOT_ERROR, identified, identify
from sdyopt.driver.job import Job
from sdyopt.ir.operation import Op


class Snapshots:
    """The snapshot of one job. Raises DiagnosticError, located in the file, for an invalid earlier one."""

    def __init__(self, job: Job) -> None:
        self._job = job
        with identified(SNAPSHOT_ERROR):
            check = job.snapshot.check
            self._check = None if check is None else SnapshotCheck(*check)
        self.texts: list[str] = []
        self.is_within_limits = True

    def on_input(self, op: Op) -> None:
        """Does nothing: a snapshot is of the program after the pipeline."""

    def on_output(self, op: Op, program: Callable[[], str]) -> None:
        options = self._job.snapshot
        values = values_of(op, self._job.name)
        if options.to_stdout or options.path:
            text = snapshot_text(snapshot_of(values, options.places))
            if options.to_stdout:
                self.texts.append(text)
            else:
                self._job.write_file(options.path, text)
        if self._check is not None:
            places = options.places or self._check.snapshot.places
            for difference in self._check.differences(snapshot_of(values, places)):
                self.is_within_limits = False
                identify(difference, SNAPSHOT_DIFFERENCE)
                emit(difference)
