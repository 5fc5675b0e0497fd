"""Writes the snapshot of a program, and checks the program against an earlier one."""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.analysis.comparison.program_values import ProgramValues, values_of
from sdyopt.analysis.comparison.snapshot import Options
from sdyopt.analysis.comparison.snapshot.snapshot import snapshot_of, snapshot_text
from sdyopt.analysis.comparison.snapshot.snapshot_check import SnapshotCheck
from sdyopt.analysis.interface import Analysis, Program, Run
from sdyopt.analysis.interface.flag import STDOUT
from sdyopt.base.diagnostics.diagnostic import Diagnostic, emit
from sdyopt.base.diagnostics.ids import SNAPSHOT_DIFFERENCE, SNAPSHOT_ERROR, identified, identify


class Snapshots(Analysis[Options]):
    """The snapshot of one run."""

    phase = "Report"

    def __init__(self, options: Options, run: Run) -> None:
        super().__init__(options, run)
        run.check_is_one_chunk(
            "a snapshot is of one program", "take a snapshot of each chunk in a file of its own"
        )
        with identified(SNAPSHOT_ERROR):
            earlier = options.check_snapshot
            self._check = None if earlier is None else SnapshotCheck(*earlier)

    def on_output(self, program: Program) -> None:
        path = self.options.snapshot
        values = values_of(program.after_given_passes, self.run.name)
        if path is not None:
            text = self.text(values)
            if path == STDOUT:
                self.texts.append(text)
            else:
                self.run.write_file(path, text)
        for difference in self.differences(values):
            self.is_passed = False
            emit(difference)

    def text(self, values: ProgramValues) -> str:
        """The text of the snapshot."""
        return snapshot_text(snapshot_of(values, self.options.snapshot_places))

    def differences(self, values: ProgramValues) -> Iterator[Diagnostic]:
        """An error for each difference from the earlier snapshot, if there is one."""
        if self._check is not None:
            places = self.options.snapshot_places or self._check.snapshot.places
            for difference in self._check.differences(snapshot_of(values, places)):
                identify(difference, SNAPSHOT_DIFFERENCE)
                yield difference
