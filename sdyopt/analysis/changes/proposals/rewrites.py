"""Proposals that edit no annotation: batching dimensions, and collectives before loops.

Sums that a loop adds up need not be moved: the compilers of TPU and GPU move them behind the loop.
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
from sdyopt.mlir.dialects.stablehlo.gather import GatherOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter

BATCHING = "sdy-explicit-gather-scatter-batching"


@proposal("batching", share=1)
def batching(program: ProposedOn) -> Iterator[Change]:
    """Gathers and scatters with batching dimensions, as `jnp.take_along_axis` makes them."""
    if any(is_implicit_batching(op) for op in program.module.walk()):
        yield BATCHED


BATCHED = Change(
    passes={BATCHING: {}},
    words=("index with batching dimensions, as `jnp.take_along_axis` does", f"run -{BATCHING} first"),
)


def is_implicit_batching(op: Op) -> bool:
    """Whether a gather or scatter without batching dimensions has several indices, one of them of rows."""
    if isinstance(op, GatherOp):
        gather = op.dimension_numbers
        batching, indexed, collapsed = (
            gather.operand_batching_dims,
            gather.start_index_map,
            gather.collapsed_slice_dims,
        )
    elif isinstance(op, ScatterOp):
        scatter = op.scatter_dimension_numbers
        batching, indexed, collapsed = (
            scatter.input_batching_dims,
            scatter.scatter_dims_to_operand_dims,
            scatter.inserted_window_dims,
        )
    else:
        return False
    return not batching and len(indexed) > 1 and 0 in indexed and 0 in collapsed


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
