"""Branches: terminators with successor operands, which become the arguments of the successor blocks."""

from __future__ import annotations

from collections.abc import Sequence, Set

from sdyopt.ir.block import Block
from sdyopt.ir.elements_attributes import DenseArray
from sdyopt.ir.op_fields import OPERAND_SEGMENTS, OperandField, operand_ranges
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.value import BlockArgument, Value


def successor_operand_range(branch: Op, successor_index: int) -> tuple[int, int]:
    """The operands that a branch forwards to a successor: (index of the first, number of them)."""
    field = branch.fields[branch.successor_operands[successor_index]]
    assert isinstance(field, OperandField)
    return field.range_of(branch.signature)


def forwarded_operands(op: Op) -> Set[int]:
    """The indices of the operands that are forwarded to successors; empty if the class declares none."""
    ranges = [
        successor_operand_range(op, successor_index) for successor_index in range(len(op.successor_operands))
    ]
    return {index for start, count in ranges for index in range(start, start + count)}


def incoming_edges(block: Block) -> list[tuple[Op, int]]:
    """The branches to a block, each with the index of the block in its successors, once per such index."""
    return [
        (predecessor.last, successor_index)
        for predecessor in dict.fromkeys(block.predecessors)
        if predecessor.last is not None
        for successor_index, successor in enumerate(predecessor.last.successors)
        if successor is block
    ]


def successor_operand_values(branch: Op, successor_index: int) -> list[Value]:
    """The operands that a branch forwards to a successor."""
    start, count = successor_operand_range(branch, successor_index)
    return list(branch.operands[start : start + count])


def append_successor_operands(
    rewriter: Rewriter, branch: Op, successor_index: int, values: Sequence[Value]
) -> None:
    """Appends values to the operands that a branch forwards to a successor."""
    start, count = successor_operand_range(branch, successor_index)
    name = branch.successor_operands[successor_index]
    ranges = operand_ranges(branch.signature)
    sizes = [size + len(values) * (field == name) for field, (_, size) in ranges.items()]
    operands = list(branch.operands)
    operands[start + count : start + count] = values
    _set_operands(rewriter, branch, operands, sizes)


def keep_successor_operands(rewriter: Rewriter, branch: Op, kept: Set[BlockArgument]) -> None:
    """Erases the successor operands of all block arguments that are not in `kept`."""
    dropped: set[int] = set()
    for successor_index, block in enumerate(branch.successors):
        start, _ = successor_operand_range(branch, successor_index)
        dropped.update(start + argument.index for argument in block.arguments if argument not in kept)
    if not dropped:
        return
    ranges = operand_ranges(branch.signature).values()
    sizes = [sum(index not in dropped for index in range(start, start + count)) for start, count in ranges]
    values = [value for index, value in enumerate(branch.operands) if index not in dropped]
    _set_operands(rewriter, branch, values, sizes)


def _set_operands(rewriter: Rewriter, branch: Op, values: Sequence[Value], sizes: Sequence[int]) -> None:
    segments = branch.signature.attributes.get(OPERAND_SEGMENTS)
    rewriter.set_operands(branch, values)
    if isinstance(segments, DenseArray):
        rewriter.set_attribute(branch, OPERAND_SEGMENTS, DenseArray(segments.element, tuple(sizes)))
