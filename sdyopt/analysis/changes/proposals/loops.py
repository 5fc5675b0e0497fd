"""Proposals for collectives that programs write in loops: before the loop, or once behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from sdyopt.analysis.changes.edits import Change
from sdyopt.analysis.changes.proposals import ProposedOn, proposal
from sdyopt.analysis.figures.execution_counts import ExecutionCounts, constant_of
from sdyopt.analysis.figures.loop_invariants import is_invariant, owner_of
from sdyopt.analysis.figures.product_collectives import COLLECTIVES
from sdyopt.analysis.figures.source_locations import source_location
from sdyopt.mlir.dialects.stablehlo.broadcast import BroadcastInDimOp
from sdyopt.mlir.dialects.stablehlo.collectives import AllReduceOp
from sdyopt.mlir.dialects.stablehlo.control_flow import WhileOp
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value


@proposal("invariant collectives", share=1)
def invariant_collectives(program: ProposedOn) -> Iterator[Change]:
    """A collective before the loop in which its operands do not change."""
    counts = ExecutionCounts(program.module)
    for op in program.module.walk():
        loop = op.parent_of_type(WhileOp) if isinstance(op, COLLECTIVES) and op.results else None
        if not isinstance(loop, WhileOp) or not all(is_invariant(each, loop, counts) for each in op.operands):
            continue
        if not any(loop.is_ancestor(owner_of(each)) for each in op.operands):
            name = op.signature.name.removeprefix("stablehlo.")
            words = f"run this {name} before the loop", ""
            yield Change(rewrite=partial(_move_before, op, loop), words=words)


def _move_before(op: Op, loop: Op, copies: Mapping[Op, Op], rewriter: Rewriter) -> None:
    rewriter.move(copies[op], before=copies[loop])


@proposal("accumulated sums", share=1)
def accumulated_sums(program: ProposedOn) -> Iterator[Change]:
    """A psum whose result a loop adds up, from zero on: the sum of all iterations, once behind the loop."""
    of_loop: dict[WhileOp, dict[Op, int]] = {}
    for op in program.module.walk():
        if isinstance(op, AllReduceOp) and len(op.results) == 1:
            loop, index = op.parent_of_type(WhileOp), _accumulator(op)
            if isinstance(loop, WhileOp) and index is not None and _is_zero(loop.operands[index]):
                of_loop.setdefault(loop, {})[op] = index
    for loop, sums in of_loop.items():
        location = source_location(next(iter(sums)).location)
        line = f" at {location.file_text}" if location.line else ""
        words = f"run the psum{line} once behind the loop, on what it adds up", ""
        yield Change(rewrite=partial(_move_behind, loop, sums), words=words)


def _accumulator(op: AllReduceOp) -> int | None:
    """The number of the value of a loop that does nothing but to add up the result of a sum."""
    result = op.results[0]
    users = list(result.users)
    if len(users) != 1 or not isinstance(users[0], AddOp):
        return None
    other = next((each for each in users[0].operands if each is not result), None)
    loop, added = op.parent_of_type(WhileOp), list(users[0].results[0].uses)
    if not isinstance(other, BlockArgument) or other.owner.parent_op is not loop or loop is None:
        return None
    is_returned = len(added) == 1 and added[0].owner.is_terminator and added[0].index == other.index
    is_body = other.owner is loop.regions[1].blocks[0]
    return other.index if is_returned and is_body and other.has_one_use else None


def _is_zero(value: Value) -> bool:
    op = value.defining_op
    if isinstance(op, BroadcastInDimOp):
        op = op.operands[0].defining_op
    constant = None if op is None else constant_of(op)
    return isinstance(constant, DenseElements) and constant.is_splat and not any(constant.data)


def _move_behind(loop: Op, sums: Mapping[Op, int], copies: Mapping[Op, Op], rewriter: Rewriter) -> None:
    for op, index in sums.items():
        copy, result = copies[op], copies[loop].results[index]
        assert isinstance(result, OpResult)
        rewriter.replace_all_uses(copy.results[0], copy.operands[0])
        rewriter.move(copy, after=copies[loop])
        rewriter.replace_uses_except(result, copy.results[0], copy)
        rewriter.set_operands(copy, [result])
