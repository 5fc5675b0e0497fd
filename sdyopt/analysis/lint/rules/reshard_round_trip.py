"""reshard-round-trip: a value is resharded for an elementwise operation and back after it.

    %1 = sdy.all_gather [{"x"}, {}] %0 out_sharding=<@mesh, [{}, {}]> : tensor<1024x1024xf32>
    %2 = stablehlo.tanh %1 : tensor<1024x1024xf32>
    %3 = sdy.all_slice [{"x"}, {}] %2 out_sharding=<@mesh, [{"x"}, {}]> : tensor<1024x1024xf32>

An elementwise operation can run under any sharding, so it need not communicate. The rule follows a value
through elementwise operations whose other operands are constants, broadcasts or values that are resharded
in the same way, such as those of a GELU, and which have no other use.

Usually a constraint between the two requires the sharding. The rule gives the value the sharding between the
two that it has before and after, in a copy of the program, and reports the reshards if it then sends less.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from sdyopt.analysis.changes.effect import bytes_of_runs
from sdyopt.analysis.figures.causes import dims_text, last_of_chain, producer
from sdyopt.analysis.figures.execution_counts import constant_of
from sdyopt.analysis.figures.units import bytes_text
from sdyopt.analysis.lint.program import LintedProgram, op_to_show
from sdyopt.analysis.lint.rule import MIN_WIRE_BYTES, Finding, LintedPrograms, Looks, Note, Rule, rule
from sdyopt.base.diagnostics.diagnostic import Severity
from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp, CollectiveOp, ReduceScatterOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import OpResult, Value
from sdyopt.shardy.notation.partition_spec import specs_or_dims
from sdyopt.shardy.sharding.op_sharding_rule_builder import is_elementwise

_REDUCTIONS = (AllReduceOp, ReduceScatterOp)
# The rule follows a value through at most this many operations.
MAX_OPERATIONS = 64


@rule("reshard-round-trip", Severity.WARNING, Looks.TRIALS)
class ReshardRoundTrip(Rule):
    limits = MIN_WIRE_BYTES
    cost = "on the wire"

    def check(self, programs: LintedPrograms) -> Iterator[Finding]:
        program = programs.with_collectives
        for op in program.collectives:
            if not isinstance(op, CollectiveOp) or _continues_chain(op):
                continue
            way_out = _chain(op)
            ends = _follow(way_out[-1].results[0], producer(op), program)
            if not ends or isinstance(op, _REDUCTIONS):
                continue
            trip = (*way_out, *(collective for last in ends for collective in _chain(last)))
            if any(isinstance(collective, _REDUCTIONS) for collective in trip):
                continue
            cost = sum((bytes_of_runs(program.collectives[collective]) for collective in trip), Fraction(0))
            if cost and cost >= self.limit("min_bytes"):
                yield _finding(op, ends[0], cost, program, trip)


def _finding(
    op: CollectiveOp,
    last: CollectiveOp,
    cost: Fraction,
    program: LintedProgram,
    collectives: tuple[CollectiveOp, ...],
) -> Finding:
    old, new = (program.shapes.sharding(value) for value in (producer(op), last_of_chain(op)))
    before, after = specs_or_dims(*(dims_text(sharding, op.out_sharding.rank) for sharding in (old, new)))
    return Finding(
        op,
        f"a value is resharded from {before} to {after} and back, with only "
        f"elementwise operations between: {bytes_text(cost)} on the wire",
        notes=(_note(last),),
        cost=cost,
        collectives=collectives,
    )


def _note(last: CollectiveOp) -> Note:
    """The operation that reshards the value back: its use, or its definition if it is only returned."""
    if op_to_show(last) is not last:
        return Note("the value is resharded back for this operation", last)
    return Note("the value is resharded back here", last)


def _continues_chain(op: CollectiveOp) -> bool:
    return isinstance(op.tensor, OpResult) and isinstance(op.tensor.op, CollectiveOp)


def _chain(op: CollectiveOp) -> list[CollectiveOp]:
    """The collectives that follow each other from `op` on, each the only user of the one before it."""
    chain = [op]
    while True:
        users = list(chain[-1].results[0].users)
        if len(users) != 1 or not isinstance(users[0], CollectiveOp):
            return chain
        chain.append(users[0])


def _follow(value: Value, start: Value, program: LintedProgram) -> list[CollectiveOp]:
    """The collectives after elementwise operations, if all of their chains end with the sharding of `start`.

    None if a value between has another use.
    """
    # All elementwise operations that are computed from the value, and the collectives after them.
    between: dict[Op, None] = {}
    ends: dict[CollectiveOp, None] = {}
    values = [value]
    for current in values:
        for user in dict.fromkeys(current.users):
            if isinstance(user, CollectiveOp) and current is not value:
                ends[user] = None
            elif not is_elementwise(user.signature) or len(user.results) != 1:
                return []
            elif user not in between:
                between[user] = None
                values.append(user.results[0])
        if len(between) > MAX_OPERATIONS or not current.has_uses:
            return []
    known = set(values)
    operands = {operand: None for op in between for operand in op.operands if operand not in known}
    is_alike = all(_is_free(operand, start, program) for operand in operands)
    is_back = all(_is_same_sharding(start, _chain(end)[-1].results[0], program) for end in ends)
    return list(ends) if is_alike and is_back else []


def _is_free(operand: Value, start: Value, program: LintedProgram) -> bool:
    """Whether an operand can have any sharding, or was resharded like the value that is followed."""
    op = operand.defining_op
    if op is None:
        return False
    if isinstance(op, CollectiveOp) and not isinstance(op, _REDUCTIONS):
        return operand.has_one_use and _is_same_sharding(start, producer(op), program)
    return constant_of(op) is not None or isinstance(op, BroadcastInDimOp)


def _is_same_sharding(first: Value, second: Value, program: LintedProgram) -> bool:
    one, other = program.shapes.sharding(first), program.shapes.sharding(second)
    if one is None or other is None:
        return (one or other) is None
    return one.is_equivalent(other)
