"""Programs that are imported, edited, then propagated with a record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sdyopt.analysis.sharding_record.model import PropagationRun
from sdyopt.analysis.sharding_record.record import ShardingRecord
from sdyopt.base.diagnostics.diagnostic import Diagnostic, DiagnosticError, Severity, handling
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.parser.module_parser import ParseOptions, parse_module
from sdyopt.mlir.asm.printer.asm_printer import print_for_note
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.ir.verify import Verifier
from sdyopt.mlir.pipeline.base import Pass
from sdyopt.mlir.pipeline.run import run_pipeline
from sdyopt.mlir.pipeline.tree import Pipeline, parse_passes
from sdyopt.mlir.registry import dialect_table, lookup
from sdyopt.shardy.record import FunctionResult, Subject

_PROPAGATION = "sdy-user-priority-propagate"


@dataclass
class Imported:
    """A program before propagation. A value has the same number in each import of one text."""

    module: Op
    values: list[Value]
    ops: list[Op]
    functions: list[FuncOp]

    def subject(self, number: tuple[int, int]) -> Subject:
        """The value, or the result of a function, with a number."""
        first, second = number
        return self.values[second] if first < 0 else FunctionResult(self.functions[first], second)  # type: ignore[return-value]


# Changes a program between import and propagation.
Edit = Callable[[Imported], None]


@dataclass
class Recorded:
    """A program after propagation, with the record of it."""

    name: str
    text: str
    record: ShardingRecord
    run: PropagationRun
    imported: Imported

    def __post_init__(self) -> None:
        self._numbers = {value: number for number, value in enumerate(self.imported.values)}
        self._function_numbers = {op: number for number, op in enumerate(self.imported.functions)}
        self.op_numbers = {op: number for number, op in enumerate(self.imported.ops)}

    def number(self, subject: Subject) -> tuple[int, int] | None:
        """The number of a subject; None if propagation has created it."""
        if isinstance(subject, FunctionResult):
            return self._function_numbers[subject.function], subject.result_index
        number = self._numbers.get(subject)
        return None if number is None else (-1, number)


@dataclass(frozen=True)
class Rejected:
    """An edited program that is invalid, or one of which propagation makes an invalid program."""

    message: str
    is_result: bool


def propagated(name: str, text: str, has_origins: bool = False) -> Recorded | None:
    """The program after import and propagation; None if a pass fails.

    `has_origins`: the passes write `sdy.sharding_origins`, too.
    """
    program = edited(name, text, (), has_origins)
    return program if isinstance(program, Recorded) else None


def edited(name: str, text: str, edits: Sequence[Edit], has_origins: bool = False) -> Recorded | Rejected:
    """The program after import, edits and propagation."""
    record = ShardingRecord()
    errors: list[str] = []
    with handling(lambda diagnostic: _keep_error(diagnostic, errors)), record.active():
        try:
            module, _ = parse_module(Source(name, text), dialect_table(), ParseOptions())
        except DiagnosticError as error:
            return Rejected(str(error), False)
        verifier = Verifier(dialect_table(), AttributePrinter().type, print_for_note)
        before, propagation = _passes(has_origins)
        if not verifier.verify(module) or not run_pipeline(before, module, verifier):
            return Rejected(errors[0], False)
        imported = _number(module)
        for edit in edits:
            edit(imported)
        if edits and not verifier.verify(module):
            return Rejected(errors[0], False)
        if not run_pipeline(propagation, module, verifier):
            return Rejected(errors[0], True)
    return Recorded(name, text, record, record.runs[-1], imported)


def _keep_error(diagnostic: Diagnostic, errors: list[str]) -> None:
    if diagnostic.severity is Severity.ERROR:
        errors.append(diagnostic.message)


def _passes(has_origins: bool) -> tuple[Pipeline, Pipeline]:
    """The passes of the propagation pipeline before propagation, and propagation."""
    options = "{debug-sharding-origins=true}" if has_origins else ""
    elements = parse_passes(f"sdy-propagation-pipeline{options}", lookup).merged().elements
    position = next(
        number
        for number, element in enumerate(elements)
        if isinstance(element, Pass) and element.flag == _PROPAGATION
    )
    return Pipeline("builtin.module", elements[:position]), Pipeline("builtin.module", [elements[position]])


def _number(module: Op) -> Imported:
    ops = list(module.walk())
    values: list[Value] = []
    for op in ops:
        values += op.results
        for region in op.regions:
            for block in region.blocks:
                values += block.arguments
    return Imported(module, values, ops, [op for op in ops if isinstance(op, FuncOp)])
