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
from sdyopt.analysis.figures.product_collectives import COLLECTIVES
from sdyopt.analysis.figures.units import bytes_text
from sdyopt.analysis.lint.program import LintedProgram, owner_of
from sdyopt.analysis.lint.proposals import Proposals
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
from sdyopt.analysis.trials.effect import bytes_of_runs
from sdyopt.analysis.trials.remedies import Remedy
from sdyopt.base.diagnostics.diagnostic import Severity
from sdyopt.base.diagnostics.text import counted
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.collectives import CollectiveOp
from sdyopt.mlir.dialects.sdy.computation_ops import ManualComputationOp, NamedComputationOp
from sdyopt.mlir.dialects.stablehlo.control_flow import WhileOp
from sdyopt.mlir.ir.interfaces import is_memory_effect_free
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value


@rule("loop-invariant-collective", Severity.WARNING, Looks.TRIALS)
class LoopInvariantCollective(Rule):
    limits = MIN_WIRE_BYTES
    cost = "on the wire"

    def check(self, programs: LintedPrograms) -> Iterator[Finding]:
        program = programs.with_collectives
        proposals = Proposals.of(programs.trials)
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
    often = "an unknown number of iterations" if count is None else counted(count, "iteration")
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


# Operations whose block arguments are their operands.
_BODIES = (ManualComputationOp, NamedComputationOp)

# A value that depends on more values than this counts as changing.
MAX_SOURCES = 1000


def loop_around(op: Op, program: LintedProgram) -> WhileOp | None:
    """The innermost loop whose body runs an operation, also in a function with a single call."""
    visited: set[FuncOp] = set()
    while True:
        inside = op
        for parent in op.ancestors():
            if isinstance(parent, WhileOp) and inside.parent_region is parent.body:
                return parent
            inside = parent
            if isinstance(parent, FuncOp):
                call = _only_call(parent, program)
                if call is None or parent in visited:
                    return None
                visited.add(parent)
                op = call
                break
        else:
            return None


def is_invariant(value: Value, loop: WhileOp, program: LintedProgram) -> bool:
    """Whether a value in the body of a loop is the same in each iteration, as far as its sources show."""
    pending, visited = [value], {value}
    while pending:
        sources = _sources(pending.pop(), loop, program)
        if sources is None or len(visited) > MAX_SOURCES:
            return False
        pending += [source for source in sources if source not in visited]
        visited.update(sources)
    return True


def _sources(value: Value, loop: WhileOp, program: LintedProgram) -> list[Value] | None:
    """The values that a value is computed from in the loop; None if it may change."""
    owner = owner_of(value)
    if isinstance(value, BlockArgument):
        if owner is loop:
            is_passed_on = _next_value(loop, value.index) is value
            return [] if value.owner.parent_op is loop and is_passed_on else None
        if not _is_in_loop(owner, loop, program):
            return []
        if isinstance(owner, _BODIES):
            return [owner.operand_at(value.index)]
        if isinstance(owner, FuncOp) and (call := _only_call(owner, program)) is not None:
            return [call.operand_at(value.index)]
        return None
    assert isinstance(value, OpResult)
    if not _is_in_loop(owner, loop, program):
        return []
    is_computed = not owner.regions and (is_memory_effect_free(owner) or isinstance(owner, COLLECTIVES))
    return owner.operands if is_computed else None


def _is_in_loop(op: Op, loop: WhileOp, program: LintedProgram) -> bool:
    """Whether the body of a loop runs an operation, itself or in a function that it calls."""
    function = loop.parent_of_type(FuncOp)
    around = op if isinstance(op, FuncOp) else op.parent_of_type(FuncOp)
    return around is not function or loop.is_ancestor(op)


def _next_value(loop: WhileOp, index: int) -> Value | None:
    last = loop.body.blocks[0].last
    return None if last is None or index >= len(last.operands) else last.operand_at(index)


def _only_call(function: FuncOp, program: LintedProgram) -> Op | None:
    sites = program.counts.call_sites(function)
    return sites[0] if len(sites) == 1 and not program.counts.is_entry(function) else None


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
