"""Arguments of blocks that are always handed the same value: that is used instead."""

from __future__ import annotations

from sdyopt.ir.block import Block, Region
from sdyopt.ir.branch_interface import hand_over_only, handed_values, ways_into
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.value import BlockArgument, Value


def drop_redundant_arguments(rewriter: Rewriter, region: Region) -> bool:
    """Whether arguments were dropped, in the region or in those inside it."""
    changed = False
    for block in region.blocks:
        changed |= _drop_in(rewriter, block)
        for op in block.ops:
            for inner in op.regions:
                changed |= drop_redundant_arguments(rewriter, inner)
    return changed


def _drop_in(rewriter: Rewriter, block: Block) -> bool:
    ways = ways_into(block) if block.arguments else []
    if not ways or not all(branch.target_operands for branch, _ in ways):
        return False
    redundant: list[BlockArgument] = []
    for argument in block.arguments:
        # Asked anew each time: what replaced another argument may have been handed over itself.
        handed: list[Value] = [handed_values(branch, number)[argument.index] for branch, number in ways]
        if all(value is handed[0] for value in handed):
            rewriter.replace_all_uses(argument, handed[0])
            redundant.append(argument)
    if not redundant:
        return False
    for branch in dict.fromkeys(branch for branch, _ in ways):
        kept = {argument for after in branch.successors for argument in after.arguments}
        hand_over_only(rewriter, branch, kept.difference(redundant))
    for argument in redundant:
        rewriter.erase_argument(argument)
    return True
