"""The bytes that elementwise operations read and write: each alone, and fused where they follow each other.

A fused chain is the elementwise operations of a block that use each other's results. It reads what comes from
outside, and writes what is used outside; broadcasts are part of it, and constants cost nothing.
"""

from __future__ import annotations

from sdyopt.analysis.figures.execution_counts import ExecutionCounts, constant_of
from sdyopt.analysis.figures.figures import Elementwise
from sdyopt.analysis.figures.local_shapes import LocalShapes
from sdyopt.mlir.dialects.stablehlo.broadcast import BroadcastInDimOp
from sdyopt.mlir.ir.block import Block
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.sharding.elementwise import is_elementwise


def elementwise_figures(module: Op, shapes: LocalShapes, counts: ExecutionCounts) -> Elementwise:
    """The elementwise operations of a program, over all runs; those of unknown size or number are counted."""
    elementwise = Elementwise()
    chains: dict[Op, set[Op]] = {}
    for op in module.walk():
        if not _is_in_chain(op):
            continue
        chains[op] = {op}
        # Definitions come first, so that their chains are known.
        for operand in op.operands:
            before = operand.defining_op
            if before is not None and before in chains and before.parent is op.parent:
                _join(chains, op, before)
        times = counts.times(op)
        sizes = [_bytes(value, shapes) for value in (*dict.fromkeys(op.operands), *op.results)]
        elementwise.count += 1
        if times is None or None in sizes:
            elementwise.unknown += 1
        else:
            elementwise.alone += times.high * sum(size or 0 for size in sizes)
    for chain in {id(chain): chain for chain in chains.values()}.values():
        first = next(iter(chain))
        times = counts.times(first)
        read = dict.fromkeys(value for op in chain for value in op.operands if value.defining_op not in chain)
        written = [
            value for op in chain for value in op.results if any(user not in chain for user in value.users)
        ]
        if times is not None:
            elementwise.fused += times.high * sum(_bytes(value, shapes) or 0 for value in (*read, *written))
    return elementwise


def _join(chains: dict[Op, set[Op]], first: Op, second: Op) -> None:
    """Joins the chains of two operations: the smaller one becomes part of the larger one."""
    smaller, larger = sorted((chains[first], chains[second]), key=len)
    if smaller is not larger:
        larger |= smaller
        chains.update(dict.fromkeys(smaller, larger))


def _is_in_chain(op: Op) -> bool:
    is_of_block = isinstance(op.parent, Block) and bool(op.operands) and len(op.results) == 1
    return is_of_block and (isinstance(op, BroadcastInDimOp) or is_elementwise(op.signature))


def _bytes(value: Value, shapes: LocalShapes) -> int | None:
    op = value.defining_op
    return 0 if op is not None and constant_of(op) is not None else shapes.bytes(value)
