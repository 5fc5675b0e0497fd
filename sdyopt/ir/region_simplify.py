"""Region simplification: erases unreachable blocks, dead code, redundant arguments, and merges equal blocks.

The result is that of MLIR's simplifyRegions, because later rewrites depend on it. `liveness` defines what is
dead.
"""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.ir.block import Region
from sdyopt.ir.block_merging import merge_blocks
from sdyopt.ir.branch_interface import keep_successor_operands
from sdyopt.ir.dominance import Dominance, has_ssa_dominance
from sdyopt.ir.effects import is_trivially_dead
from sdyopt.ir.liveness import Liveness
from sdyopt.ir.redundant_arguments import drop_redundant_arguments
from sdyopt.ir.rewrite import Rewriter


def simplify_region(rewriter: Rewriter, region: Region, merges_blocks: bool = False) -> bool:
    """Simplifies a region and nested ones.

    With `merges_blocks`, it also merges equal blocks and erases redundant arguments. Returns whether anything
    changed; erasing dead block arguments does not count.
    """
    has_branches = _has_several_blocks(region)
    changed = has_branches and erase_unreachable(rewriter, region)
    changed |= _erase_dead(rewriter, region)
    if merges_blocks and has_branches:
        changed |= merge_blocks(rewriter, region)
        changed |= drop_redundant_arguments(rewriter, region)
    return changed


def erase_unreachable(rewriter: Rewriter, region: Region) -> bool:
    """Erases the unreachable blocks of a region and of nested ones. Returns whether there were any."""
    changed = False
    if len(region.blocks) > 1:
        dominance = Dominance()
        for block in [block for block in region.blocks if not dominance.is_reachable(block)]:
            rewriter.erase_block(block)
            changed = True
    for inner in _nested_regions(region):
        changed |= erase_unreachable(rewriter, inner)
    return changed


def _has_several_blocks(region: Region) -> bool:
    """Whether a region or a nested one has several blocks: otherwise there are no branches."""
    pending = [region]
    while pending:
        inner = pending.pop()
        if len(inner.blocks) > 1:
            return True
        pending += _nested_regions(inner)
    return False


def _erase_dead(rewriter: Rewriter, region: Region) -> bool:
    """Erases dead operations, also those that use each other. Returns whether there were any.

    Dead block arguments are erased too, but do not count.
    """
    if _is_all_live(region):
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


def _is_all_live(region: Region) -> bool:
    """Whether it is clear without a `Liveness` that nothing in a region is dead.

    If no operation is trivially dead, and no operations can use each other in a cycle, every chain of uses
    ends at an operation that cannot be erased. Regions with several blocks need a `Liveness`.
    """
    if len(region.blocks) != 1:
        return not region.blocks
    is_ordered = has_ssa_dominance(region)
    op = region.blocks[0].first
    while op is not None:
        if (op.results and not is_ordered) or is_trivially_dead(op):
            return False
        for inner in op.regions:
            if not _is_all_live(inner):
                return False
        op = op.next
    return True


def _erase_arguments(rewriter: Rewriter, region: Region, liveness: Liveness) -> None:
    """Erases the dead arguments of all blocks except entry blocks, whose arguments the parent op defines."""
    for inner in _nested_regions(region):
        _erase_arguments(rewriter, inner, liveness)
    if len(region.blocks) == 1:
        return
    for block in region.blocks:
        if block.last is not None and block.last.successor_operands:
            keep_successor_operands(rewriter, block.last, liveness.live_arguments)
    for block in region.blocks[1:]:
        for argument in [argument for argument in block.arguments if argument not in liveness.live_arguments]:
            rewriter.erase_argument(argument)


def _nested_regions(region: Region) -> Iterator[Region]:
    """The regions of the operations directly in a region."""
    for block in region.blocks:
        op = block.first
        while op is not None:
            if op.regions:
                yield from op.regions
            op = op.next
