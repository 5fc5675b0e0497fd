"""A program whose passes are recorded: what explanations, remarks and the page of steps are made from.

program = RecordedProgram(source, module, dialects, parse_record)    # after parsing
with program.recording():
    run_pipeline(…)
"""

from __future__ import annotations

from contextlib import AbstractContextManager

from sdyopt.analysis.explain.names import ExplanationNames, InputNames
from sdyopt.analysis.interface import Program
from sdyopt.analysis.sharding_record.record import ShardingRecord, shared_record
from sdyopt.base.diagnostics.diagnostic import Diagnostic, DiagnosticError, Severity
from sdyopt.base.diagnostics.ids import USAGE_ERROR
from sdyopt.base.diagnostics.location import Source, UnknownLoc
from sdyopt.mlir.asm.parser.ssa_scope import ParseRecord
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.operation import Op


class RecordedProgram:
    """A module with its record. `inputs` has the names of values in the source, `names` those for people.

    `is_recorded` becomes True when passes are recorded.
    """

    def __init__(
        self,
        source: Source,
        module: Op,
        dialects: DialectTable,
        parse_record: ParseRecord,
        record: ShardingRecord | None = None,
    ) -> None:
        self.module, self.dialects = module, dialects
        self.inputs = InputNames(source, module, parse_record)
        self.record = record or ShardingRecord()
        self.names = ExplanationNames(self.inputs, self.record)
        self.is_recorded = False

    def recording(self) -> AbstractContextManager[None]:
        """Records in the `with` block, in which passes run; within another such block, that one does."""
        self.is_recorded = True
        return self.record.active()

    def check_is_propagated(self) -> None:
        """Raises DiagnosticError if no pass has propagated shardings."""
        if not self.record.runs:
            message = "there is nothing to explain: no pass has propagated shardings"
            diagnostic = Diagnostic(Severity.ERROR, UnknownLoc(), message, id=USAGE_ERROR)
            raise DiagnosticError(diagnostic).help("add -sdy-propagation-pipeline")


def recorded(program: Program) -> RecordedProgram:
    """The record of a program of a run, for `Program.shared`. The options have `needs_parse_record`."""
    assert program.parse_record is not None
    record = program.shared(shared_record)
    return RecordedProgram(program.source, program.op, program.dialects, program.parse_record, record)
