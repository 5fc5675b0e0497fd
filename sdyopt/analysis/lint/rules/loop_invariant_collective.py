"""loop-invariant-collective: a collective runs in every iteration of a loop on a value that does not change.

    %r:2 = stablehlo.while(%i = %zero, %weight = %w) : tensor<i32>, tensor<1024x1024xf32>
     …
    do {
      %1 = sdy.all_gather [{"x"}, {}] %weight out_sharding=<@mesh, [{}, {}]> : tensor<1024x1024xf32>
      …
      stablehlo.return %next, %weight : tensor<i32>, tensor<1024x1024xf32>
    }

Every iteration yields the same result. One collective before the loop is enough.

The rule constrains the value to the gathered sharding before the loop, in a copy of the program, and reports
the collective if the program then sends less. The result takes memory during the loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from sdyopt.analysis.figures.causes import producer
from sdyopt.analysis.figures.figures import Collective
from sdyopt.analysis.figures.units import bytes_text
from sdyopt.analysis.lint.finding import Finding, Note
from sdyopt.analysis.lint.limits import MIN_WIRE_BYTES
from sdyopt.analysis.lint.loops import is_invariant, loop_around
from sdyopt.analysis.lint.program import owner_of
from sdyopt.analysis.lint.proposals import Proposals
from sdyopt.analysis.lint.rule import Looks, Rule, Subject, rule
from sdyopt.analysis.lint.texts import collective_text, count_text, runs_text
from sdyopt.analysis.trials.program import bytes_of_runs
from sdyopt.analysis.trials.remedies import Remedy
from sdyopt.base.diagnostics.diagnostic import Severity
from sdyopt.mlir.dialects.sdy.collective_base import CollectiveOp
from sdyopt.mlir.dialects.stablehlo.control_flow import WhileOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import BlockArgument


@rule("loop-invariant-collective", Severity.WARNING, Looks.TRIALS)
class LoopInvariantCollective(Rule):
    limits = MIN_WIRE_BYTES
    cost = "on the wire"

    def check(self, subject: Subject) -> Iterator[Finding]:
        program = subject.with_collectives
        proposals = Proposals.of(subject.trials)
        for op, figures in program.collectives.items():
            if not figures.wire_bytes:
                continue
            loop = loop_around(op, program)
            if loop is None or not all(is_invariant(each, loop, program) for each in op.operands):
                continue
            count = program.counts.trip_count(loop)
            cost = bytes_of_runs(figures)
            if count is not None:
                cost -= cost / max(count, 1)
            if count != 1 and cost >= self.limit("min_bytes"):
                yield _finding(op, figures, loop, cost, count, proposals)


def _finding(
    op: Op, figures: Collective, loop: WhileOp, cost: Fraction, count: int | None, proposals: Proposals
) -> Finding:
    often = "an unknown number of iterations" if count is None else count_text(count, "iteration")
    waste = "" if count is None else f", {bytes_text(cost)} more than before the loop"
    return Finding(
        op,
        f"{collective_text(figures)} has an operand that does not change in the loop: "
        f"{bytes_text(bytes_of_runs(figures))} on the wire{runs_text(figures.times)}{waste}",
        notes=(Note(f"the loop with {often} is here", loop),),
        cost=cost if count is not None else None,
        collectives=(op,),
        remedies=_remedies(op, loop, proposals),
    )


def _remedies(op: Op, loop: WhileOp, proposals: Proposals) -> Iterator[Remedy]:
    """The sharding after the collective, for what enters the loop; a collective of the program is moved."""
    if isinstance(op, CollectiveOp):
        value = producer(op)
        if isinstance(value, BlockArgument) and value.owner.parent_op is loop:
            value = loop.operands[value.index]
        yield from proposals.like(value, op.out_sharding)
    elif op.results and not any(loop.is_ancestor(owner_of(each)) for each in op.operands):
        name = op.signature.name.removeprefix("stablehlo.")
        yield from proposals.moved_before(op, loop, f"run this {name} before the loop")
