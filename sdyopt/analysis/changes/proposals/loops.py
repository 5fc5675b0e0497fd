"""Proposals for collectives that programs write in loops: before the loop.

Sums that a loop adds up need none: the compilers of TPU and GPU move them behind the loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from sdyopt.analysis.changes.edits import Change
from sdyopt.analysis.changes.proposals import ProposedOn, proposal
from sdyopt.analysis.figures.execution_counts import ExecutionCounts
from sdyopt.analysis.figures.loop_invariants import is_invariant, owner_of
from sdyopt.analysis.figures.product_collectives import COLLECTIVES
from sdyopt.mlir.dialects.stablehlo.control_flow import WhileOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter


@proposal("invariant collectives", share=1)
def invariant_collectives(program: ProposedOn) -> Iterator[Change]:
    """A collective before the loop in which its operands do not change."""
    counts = ExecutionCounts(program.module)
    for op in program.module.walk():
        loop = op.parent_of_type(WhileOp) if isinstance(op, COLLECTIVES) and op.results else None
        if not isinstance(loop, WhileOp) or not all(
            is_invariant(operand, loop, counts) for operand in op.operands
        ):
            continue
        if not any(loop.is_ancestor(owner_of(operand)) for operand in op.operands):
            name = op.signature.name.removeprefix("stablehlo.")
            words = f"run this {name} before the loop", ""
            yield Change(rewrite=partial(_move_before, op, loop), words=words)


def _move_before(op: Op, loop: Op, copies: Mapping[Op, Op], rewriter: Rewriter) -> None:
    rewriter.move(copies[op], before=copies[loop])
