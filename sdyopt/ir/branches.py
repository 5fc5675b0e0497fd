"""Branches: terminators that say which of their operands become the arguments of which successor."""

from __future__ import annotations

from collections.abc import Set

from sdyopt.ir.elements import DenseArray
from sdyopt.ir.fields import OPERAND_SEGMENTS, OperandField, operand_ranges
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.value import BlockArgument


def target_range(branch: Op, number: int) -> tuple[int, int]:
    """First index and number of the operands that a branch hands to one of its successors."""
    field = branch.fields[branch.target_operands[number]]
    assert isinstance(field, OperandField)
    return field.range_of(branch.form)


def handed_over(op: Op) -> Set[int]:
    """The indices of the operands that are handed to successors; none if that is not known."""
    ranges = [target_range(op, number) for number in range(len(op.target_operands))]
    return {index for start, count in ranges for index in range(start, start + count)}


def hand_over_only(rewriter: Rewriter, branch: Op, kept: Set[BlockArgument]) -> None:
    """Takes away the operands that become other arguments than these."""
    dropped: set[int] = set()
    for number, block in enumerate(branch.successors):
        start, _ = target_range(branch, number)
        dropped.update(start + argument.index for argument in block.arguments if argument not in kept)
    if not dropped:
        return
    ranges = operand_ranges(branch.form).values()
    sizes = [sum(index not in dropped for index in range(start, start + count)) for start, count in ranges]
    segments = branch.form.attributes.get(OPERAND_SEGMENTS)
    values = [value for index, value in enumerate(branch.operands) if index not in dropped]
    rewriter.set_operands(branch, values)
    if isinstance(segments, DenseArray):
        rewriter.set_attribute(branch, OPERAND_SEGMENTS, DenseArray(segments.element, tuple(sizes)))
