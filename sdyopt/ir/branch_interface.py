"""Branches: terminators that say which of their operands become the arguments of which successor."""

from __future__ import annotations

from collections.abc import Sequence, Set

from sdyopt.ir.block import Block
from sdyopt.ir.elements_attributes import DenseArray
from sdyopt.ir.op_fields import OPERAND_SEGMENTS, OperandField, operand_ranges
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.value import BlockArgument, Value


def target_range(branch: Op, number: int) -> tuple[int, int]:
    """First index and number of the operands that a branch hands to one of its successors."""
    field = branch.fields[branch.target_operands[number]]
    assert isinstance(field, OperandField)
    return field.range_of(branch.signature)


def handed_over(op: Op) -> Set[int]:
    """The indices of the operands that are handed to successors; none if that is not known."""
    ranges = [target_range(op, number) for number in range(len(op.target_operands))]
    return {index for start, count in ranges for index in range(start, start + count)}


def ways_into(block: Block) -> list[tuple[Op, int]]:
    """The branches that may go on to a block, each with the number of the successor that this is."""
    return [
        (before.last, number)
        for before in dict.fromkeys(block.predecessors)
        if before.last is not None
        for number, successor in enumerate(before.last.successors)
        if successor is block
    ]


def handed_values(branch: Op, number: int) -> list[Value]:
    """What a branch hands to one of its successors."""
    start, count = target_range(branch, number)
    return list(branch.operands[start : start + count])


def hand_over_also(rewriter: Rewriter, branch: Op, number: int, values: Sequence[Value]) -> None:
    """Hands further values to a successor, which become its last arguments."""
    start, count = target_range(branch, number)
    name = branch.target_operands[number]
    ranges = operand_ranges(branch.signature)
    sizes = [size + len(values) * (field == name) for field, (_, size) in ranges.items()]
    operands = list(branch.operands)
    operands[start + count : start + count] = values
    _set_operands(rewriter, branch, operands, sizes)


def hand_over_only(rewriter: Rewriter, branch: Op, kept: Set[BlockArgument]) -> None:
    """Takes away the operands that become other arguments than these."""
    dropped: set[int] = set()
    for number, block in enumerate(branch.successors):
        start, _ = target_range(branch, number)
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
