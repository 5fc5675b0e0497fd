"""Equal blocks of a region become one.

Blocks are equal if they do the same with the same values, go on to the same blocks, and nobody outside
uses what they define. Blocks that differ only in values from outside could become one with these values as
arguments; that is not done, and as in MLIR such blocks keep those that they are compared with from merging.
"""

from __future__ import annotations

from sdyopt.ir.block import Block, Region
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.value import Value


def merge_blocks(rewriter: Rewriter, region: Region) -> bool:
    """Whether blocks were merged, in the region or in those inside it."""
    changed = len(region.blocks) > 1 and _merge_in(rewriter, region)
    for block in region.blocks:
        for op in block.ops:
            for inner in op.regions:
                changed |= merge_blocks(rewriter, inner)
    return changed


def _merge_in(rewriter: Rewriter, region: Region) -> bool:
    clusters: list[_Cluster] = []
    for block in region.blocks[1:]:
        if _can_merge(block) and not any(cluster.takes(block) for cluster in clusters):
            clusters.append(_Cluster(block))
    changed = False
    for cluster in clusters:
        for block in cluster.others if cluster.are_equal else ():
            rewriter.redirect(block, cluster.first)
            rewriter.erase_block(block)
            changed = True
    return changed


def _can_merge(block: Block) -> bool:
    """Whether there is nothing in a block that is not looked at: regions, and uses outside."""
    for op in block.ops:
        if any(not region.is_empty for region in op.regions):
            return False
        if any(user.parent is not block for result in op.results for user in result.users):
            return False
    return not any(user.parent is not block for argument in block.arguments for user in argument.users)


class _Cluster:
    """Blocks that are equal to the first of them, or equal up to values from outside."""

    def __init__(self, first: Block) -> None:
        self.first = first
        self.others: list[Block] = []
        self.are_equal = True

    def takes(self, block: Block) -> bool:
        """Adds a block if it is like the first one."""
        if _successors(block) != _successors(self.first):
            return False
        if [a.type for a in block.arguments] != [a.type for a in self.first.arguments]:
            return False
        ops, others = list(self.first.ops), list(block.ops)
        if len(ops) != len(others):
            return False
        counterparts: dict[Value, Value] = dict(zip(self.first.arguments, block.arguments, strict=True))
        differs = False
        for op, other in zip(ops, others, strict=True):
            if op.form is not other.form or op.attributes is not other.attributes:
                return False
            for value, wanted in zip(op.operands, other.operands, strict=True):
                if value in counterparts or wanted.block is block:
                    if counterparts.get(value) is not wanted:
                        return False
                else:
                    differs |= value is not wanted
            counterparts.update(zip(op.results, other.results, strict=True))
        self.are_equal &= not differs
        self.others.append(block)
        return True


def _successors(block: Block) -> list[Block]:
    last: Op | None = block.last
    return [] if last is None else list(last.successors)
