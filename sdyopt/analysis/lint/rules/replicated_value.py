"""replicated-value: every device has all of a large value.

    sdy.mesh @mesh = <["data"=8]>
    func.func @main(%w: tensor<8192x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>})

Each device stores the whole value, although an axis of the mesh divides one of its dimensions. The rule
reports arguments of the program, such as weights and optimizer states, and values that are computed from
smaller or sharded ones. It does not report values that a collective gathers, nor what is computed from
values that it has reported. Broadcasts are not reported: compilers fuse them into their uses.

The rule shards the value along an axis, in copies of the program, and reports it if a device then takes less
memory. Sharded weights are gathered when they are used: the help has the effect on wire bytes, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from sdyopt.analysis.changes.effect import Measure
from sdyopt.analysis.figures.product_collectives import COLLECTIVES
from sdyopt.analysis.figures.source_locations import Phase, source_location
from sdyopt.analysis.figures.units import bytes_text
from sdyopt.analysis.lint.program import LintedProgram, has_sharding_rule
from sdyopt.analysis.lint.rule import MIN_VALUE_BYTES, Finding, LintedPrograms, Looks, Rule, first_use, rule
from sdyopt.base.diagnostics.diagnostic import Severity
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp
from sdyopt.mlir.error_help.table import Narrowing, argument
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.value_names import argument_text
from sdyopt.shardy.notation.partition_spec import jax_type


@rule("replicated-value", Severity.WARNING, Looks.TRIALS)
class ReplicatedValue(Rule):
    limits = MIN_VALUE_BYTES
    cost, measures = "of memory", (Measure.MEMORY,)

    def check(self, programs: LintedPrograms) -> Iterator[Finding]:
        program = programs.with_collectives
        if not program.report.is_sharded or program.report.devices <= 1:
            return
        for function in program.entries:
            arguments = () if function.is_declaration else function.entry.arguments
            for number, value in enumerate(arguments):
                if self._is_large_and_replicated(value, program):
                    name = argument_text(function, number)
                    yield from _finding(function, name, value, program, (argument(number),), programs)
        for op in program.module.walk():
            # Whether an operation computes results of its own, which a compiler does not fuse into their
            # uses.
            is_passed_on = bool(op.regions) or isinstance(op, (*COLLECTIVES, CallOp, BroadcastInDimOp))
            computes_fresh_values = bool(op.operands) and not is_passed_on
            if not computes_fresh_values:
                continue
            if any(self._is_reported(operand, program) for operand in op.operands):
                continue
            for result in op.results:
                if self._is_large_and_replicated(result, program) and not program.manual_axes(op):
                    is_gradient = source_location(op.location).phase is Phase.BACKWARD
                    name = "a value of the backward pass" if is_gradient else "the result"
                    yield from _finding(op, name, result, program, (), programs)

    def _is_reported(self, value: Value, program: LintedProgram) -> bool:
        """Whether a value is reported itself, or gathered, or computed from such values."""
        is_fused = isinstance(value.defining_op, BroadcastInDimOp)
        return not is_fused and self._is_large_and_replicated(value, program)

    def _is_large_and_replicated(self, value: Value, program: LintedProgram) -> bool:
        size = program.shapes.bytes(value)
        if not size or size < self.limit("min_bytes"):
            return False
        sharding = program.shapes.sharding(value)
        return sharding is None or sharding.is_fully_replicated


def _finding(
    op: Op,
    name: str,
    value: Value,
    program: LintedProgram,
    steps: tuple[Narrowing, ...],
    programs: LintedPrograms,
) -> Iterator[Finding]:
    size = program.shapes.bytes(value) or 0
    axis, smaller = program.texts.spare_axis(value, size)
    if not axis or smaller is None:
        return
    has_rule = isinstance(op, FuncOp) or has_sharding_rule(op)
    reason = "" if has_rule else f", because {op.signature.name} has no sharding rule"
    yield Finding(
        op,
        f"{name}, {jax_type(plain_type(value.type))}, is replicated: {bytes_text(size)} on each of "
        f"{program.report.devices} devices{reason}",
        steps=steps,
        notes=first_use(value) if isinstance(op, FuncOp) else (),
        cost=Fraction(size - smaller),
        proposals=programs.search.with_axis(value, axis) if has_rule else (),
        is_kept=not has_rule,
    )
