"""Erases block arguments for which all branches forward the same value, and uses the value instead."""

from __future__ import annotations

from sdyopt.ir.block import Block, Region
from sdyopt.ir.branch_interface import incoming_edges, keep_successor_operands, successor_operand_values
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.value import BlockArgument, Value


def drop_redundant_arguments(rewriter: Rewriter, region: Region) -> bool:
    """Erases redundant block arguments in a region and in nested ones. Returns whether there were any."""
    changed = False
    for block in region.blocks:
        changed |= _drop_in(rewriter, block)
        for op in block.ops:
            for inner in op.regions:
                changed |= drop_redundant_arguments(rewriter, inner)
    return changed


def _drop_in(rewriter: Rewriter, block: Block) -> bool:
    edges = incoming_edges(block) if block.arguments else []
    if not edges or not all(branch.successor_operands for branch, _ in edges):
        return False
    redundant: list[BlockArgument] = []
    for argument in block.arguments:
        # Read again for each argument: replacing an earlier one may have changed the forwarded values.
        forwarded: list[Value] = [
            successor_operand_values(branch, successor_index)[argument.index]
            for branch, successor_index in edges
        ]
        if all(value is forwarded[0] for value in forwarded):
            rewriter.replace_all_uses(argument, forwarded[0])
            redundant.append(argument)
    if not redundant:
        return False
    for branch in dict.fromkeys(branch for branch, _ in edges):
        kept = {argument for successor in branch.successors for argument in successor.arguments}
        keep_successor_operands(rewriter, branch, kept.difference(redundant))
    for argument in redundant:
        rewriter.erase_argument(argument)
    return True
