"""Dominance of blocks and values."""

from __future__ import annotations

from sdyopt.ir.block import Block, Region
from sdyopt.ir.operation import Op
from sdyopt.ir.traits import GRAPH_REGION
from sdyopt.ir.value import Value

# The children of each block in the dominator tree.
DominatorTree = dict[Block, list[Block]]


class Dominance:
    """Dominance information, computed per region on demand. Invalid once blocks or branches are edited."""

    def __init__(self) -> None:
        self._dominators: dict[Region, dict[Block, set[Block]]] = {}

    def value_dominates(self, value: Value, user: Op) -> bool:
        """Whether `value` properly dominates `user`. In a graph region, values dominate the whole region."""
        block = value.block
        if block is None or block.parent is None:
            return False
        definition = value.defining_op
        # The ancestor of the user in the region of the definition.
        ancestor: Op | None = user
        while ancestor is not None and (
            ancestor.parent is None or ancestor.parent.parent is not block.parent
        ):
            ancestor = ancestor.parent_op
        if ancestor is None or ancestor.parent is None:
            return False
        if not has_ssa_dominance(block.parent):
            return True
        if definition is None:
            return ancestor.parent is block or self.block_dominates(block, ancestor.parent)
        if ancestor.parent is block:
            return definition is not ancestor and definition.is_before(ancestor)
        return self.block_dominates(block, ancestor.parent)

    def block_dominates(self, block: Block, other: Block) -> bool:
        """Whether every path from the entry block of their region to `other` contains `block`."""
        region = block.parent
        assert region is not None
        dominators = self._dominators_of(region)
        return other not in dominators or block in dominators[other]

    def is_reachable(self, block: Block) -> bool:
        """Whether there is a path from the entry block to this block."""
        region = block.parent
        if region is None or region.blocks[0] is block:
            return True
        return block in self._dominators_of(region)

    def tree(self, region: Region) -> DominatorTree:
        """The dominator tree of the reachable blocks."""
        dominators = self._dominators_of(region)
        tree: DominatorTree = {}
        for block, dominating in dominators.items():
            if block is not region.blocks[0]:
                # The dominators of a block are on one path; the immediate one has the most dominators.
                immediate = max(dominating - {block}, key=lambda other: len(dominators[other]))
                tree.setdefault(immediate, []).append(block)
        return tree

    def _dominators_of(self, region: Region) -> dict[Block, set[Block]]:
        dominators = self._dominators.get(region)
        if dominators is None:
            dominators = self._dominators[region] = _dominators(region)
        return dominators


def has_ssa_dominance(region: Region) -> bool:
    """Whether definitions must dominate uses in this region.

    They need not in a graph region. The only block of a region of an unregistered operation may be one.
    """
    op = region.parent
    return op is None or len(region.blocks) > 1 or (bool(op.name) and GRAPH_REGION not in op.traits)


def _dominators(region: Region) -> dict[Block, set[Block]]:
    """The dominators of each reachable block, itself included."""
    entry = region.blocks[0]
    order = _reverse_post_order(entry)
    predecessors: dict[Block, list[Block]] = {block: [] for block in order}
    for block in order:
        for successor in block.last.successors if block.last is not None else ():
            predecessors[successor].append(block)
    dominators: dict[Block, set[Block]] = {entry: {entry}}
    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            incoming = [dominators[p] for p in predecessors[block] if p in dominators]
            dominating = set.intersection(*incoming) | {block}
            if dominators.get(block) != dominating:
                dominators[block] = dominating
                changed = True
    return dominators


def _reverse_post_order(entry: Block) -> list[Block]:
    order: list[Block] = []
    visited = {entry}
    stack = [(entry, iter(entry.last.successors if entry.last is not None else ()))]
    while stack:
        block, successors = stack[-1]
        for successor in successors:
            if successor not in visited:
                visited.add(successor)
                following = successor.last.successors if successor.last is not None else ()
                stack.append((successor, iter(following)))
                break
        else:
            order.append(block)
            stack.pop()
    return order[::-1]
