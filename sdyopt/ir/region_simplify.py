"""Region simplification: what nothing reaches or needs goes, and equal blocks become one.

Worked out as in MLIR, because what is left decides what comes next: a value is needed if an operation
with effects, or a terminator, depends on it, wherever that stands.
"""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.ir.block import Region
from sdyopt.ir.block_merging import merge_blocks
from sdyopt.ir.branch_interface import hand_over_only
from sdyopt.ir.dominance import Dominance, has_ssa_dominance
from sdyopt.ir.effects import is_trivially_dead
from sdyopt.ir.liveness import Liveness
from sdyopt.ir.redundant_arguments import drop_redundant_arguments
from sdyopt.ir.rewrite import Rewriter


def simplify_region(rewriter: Rewriter, region: Region, merges_blocks: bool = False) -> bool:
    """Whether the region changed, or those inside it, in more than unneeded arguments."""
    changed = erase_unreachable(rewriter, region)
    changed |= _erase_dead(rewriter, region)
    if merges_blocks:
        changed |= merge_blocks(rewriter, region)
        changed |= drop_redundant_arguments(rewriter, region)
    return changed


def erase_unreachable(rewriter: Rewriter, region: Region) -> bool:
    """Removes the blocks to which no way leads; whether there were any."""
    changed = False
    if len(region.blocks) > 1:
        dominance = Dominance()
        for block in [block for block in region.blocks if not dominance.is_reachable(block)]:
            rewriter.erase_block(block)
            changed = True
    for inner in _regions_inside(region):
        changed |= erase_unreachable(rewriter, inner)
    return changed


def _erase_dead(rewriter: Rewriter, region: Region) -> bool:
    """Removes operations that are needed only by each other, which counting uses does not find.

    Unneeded arguments go too, but are no reason to look at everything again.
    """
    if _is_all_used(region):
        return False
    liveness = Liveness(region)
    dead = liveness.dead_ops
    for op in reversed(dead):
        for result in op.results:
            for use in list(result.uses):
                use.unlink()
        rewriter.erase(op)
    _erase_arguments(rewriter, region, liveness)
    return bool(dead)


def _is_all_used(region: Region) -> bool:
    """Whether everybody has a user or effects, and nobody can be his own user, not even by way of others.

    Then the last user has effects or is a terminator, so that all are needed.
    """
    if len(region.blocks) != 1:
        return not region.blocks
    is_ordered = has_ssa_dominance(region)
    op = region.blocks[0].first
    while op is not None:
        if (op.results and not is_ordered) or is_trivially_dead(op):
            return False
        for inner in op.regions:
            if not _is_all_used(inner):
                return False
        op = op.next
    return True


def _erase_arguments(rewriter: Rewriter, region: Region, liveness: Liveness) -> None:
    """Removes the arguments of blocks that nobody needs.

    Those of a first block belong to the operation around it.
    """
    for inner in _regions_inside(region):
        _erase_arguments(rewriter, inner, liveness)
    if len(region.blocks) == 1:
        return
    for block in region.blocks:
        if block.last is not None and block.last.target_operands:
            hand_over_only(rewriter, block.last, liveness.live_arguments)
    for block in region.blocks[1:]:
        for argument in [argument for argument in block.arguments if argument not in liveness.live_arguments]:
            rewriter.erase_argument(argument)


def _regions_inside(region: Region) -> Iterator[Region]:
    """The regions of the operations in a region, not those further in."""
    for block in region.blocks:
        op = block.first
        while op is not None:
            if op.regions:
                yield from op.regions
            op = op.next
