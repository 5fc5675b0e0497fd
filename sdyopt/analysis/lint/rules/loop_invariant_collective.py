"""loop-invariant-collective: a collective in a branch runs in each iteration on a value that does not change.

    %r:2 = stablehlo.while(%i = %zero, %weight = %w) : tensor<i32>, tensor<1024x1024xf32>
     …
    do {
      %1 = "stablehlo.if"(%is_third) ({
        %2 = sdy.all_gather [{"x"}, {}] %weight out_sharding=<@mesh, [{}, {}]> : tensor<1024x1024xf32>
        …
      stablehlo.return %next, %weight : tensor<i32>, tensor<1024x1024xf32>
    }

Every iteration yields the same result. One collective before the loop is enough. XLA moves such collectives
out of loops, but not out of conditionals in them, and on TPU and GPU no all-gathers; what it moves counts
once, and is not reported.

The rule constrains the value to the gathered sharding before the loop, in a copy of the program, and reports
the collective if the program then sends less. The result takes memory during the loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from sdyopt.analysis.changes.effect import bytes_of_runs
from sdyopt.analysis.figures.figures import Collective
from sdyopt.analysis.figures.loop_invariants import is_invariant, loop_around
from sdyopt.analysis.figures.units import bytes_text
from sdyopt.analysis.lint.rule import (
    MIN_WIRE_BYTES,
    Finding,
    LintedPrograms,
    Looks,
    Note,
    Rule,
    collective_text,
    rule,
    runs_text,
)
from sdyopt.base.diagnostics.diagnostic import Severity
from sdyopt.base.diagnostics.text import counted
from sdyopt.mlir.dialects.stablehlo.control_flow import WhileOp
from sdyopt.mlir.ir.operation import Op


@rule("loop-invariant-collective", Severity.WARNING, Looks.TRIALS)
class LoopInvariantCollective(Rule):
    limits = MIN_WIRE_BYTES
    cost = "on the wire"

    def check(self, programs: LintedPrograms) -> Iterator[Finding]:
        program = programs.with_collectives
        for op, figures in program.collectives.items():
            if not figures.wire_bytes or figures.is_hoisted:
                continue
            loop = loop_around(op, program.counts)
            if loop is None or not all(
                is_invariant(operand, loop, program.counts) for operand in op.operands
            ):
                continue
            count = program.counts.trip_count(loop)
            cost = bytes_of_runs(figures)
            if count is not None:
                cost -= cost / max(count, 1)
            if count != 1 and cost >= self.limit("min_bytes"):
                yield _finding(op, figures, loop, cost, count)


def _finding(op: Op, figures: Collective, loop: WhileOp, cost: Fraction, count: int | None) -> Finding:
    often = "an unknown number of iterations" if count is None else counted(count, "iteration")
    waste = "" if count is None else f", {bytes_text(cost)} more than before the loop"
    return Finding(
        op,
        f"{collective_text(figures)} has an operand that does not change in the loop: "
        f"{bytes_text(bytes_of_runs(figures))} on the wire{runs_text(figures.times)}{waste}",
        notes=(Note(f"the loop with {often} is here", loop),),
        cost=cost if count is not None else None,
        collectives=(op,),
    )
