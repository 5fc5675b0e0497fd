"""Dominance: which values may be used where."""

from __future__ import annotations

from sdyopt.ir.block import Block, Region
from sdyopt.ir.operation import Op
from sdyopt.ir.traits import GRAPH_REGION
from sdyopt.ir.value import Value

# For each block the blocks that it dominates directly.
DominatorTree = dict[Block, list[Block]]


class Dominance:
    """Answers for the regions of one program as it stands; made anew after an edit."""

    def __init__(self) -> None:
        self._dominators: dict[Region, dict[Block, set[Block]]] = {}

    def value_dominates(self, value: Value, user: Op) -> bool:
        """Whether `value` is defined at `user`, which is not the operation that defines it."""
        block = value.block
        if block is None or block.parent is None:
            return False
        definition = value.defining_op
        place: Op | None = user
        while place is not None and (place.parent is None or place.parent.parent is not block.parent):
            place = place.parent_op
        if place is None or place.parent is None:
            return False
        if not has_ssa_dominance(block.parent):
            return True
        if definition is None:
            return place.parent is block or self.block_dominates(block, place.parent)
        if place.parent is block:
            return definition is not place and definition.is_before(place)
        return self.block_dominates(block, place.parent)

    def block_dominates(self, block: Block, other: Block) -> bool:
        """Whether every way from the region's entry to `other` goes through `block`."""
        region = block.parent
        assert region is not None
        dominators = self._dominators_of(region)
        return other not in dominators or block in dominators[other]

    def is_reachable(self, block: Block) -> bool:
        """Whether there is a way from the region's entry to this block."""
        region = block.parent
        if region is None or region.blocks[0] is block:
            return True
        return block in self._dominators_of(region)

    def tree(self, region: Region) -> DominatorTree:
        """The blocks that each reachable block dominates without another one in between."""
        dominators = self._dominators_of(region)
        tree: DominatorTree = {}
        for block, found in dominators.items():
            if block is not region.blocks[0]:
                # All dominators of a block are on one path; the nearest has the most of its own.
                nearest = max(found - {block}, key=lambda other: len(dominators[other]))
                tree.setdefault(nearest, []).append(block)
        return tree

    def _dominators_of(self, region: Region) -> dict[Block, set[Block]]:
        found = self._dominators.get(region)
        if found is None:
            found = self._dominators[region] = _dominators(region)
        return found


def has_ssa_dominance(region: Region) -> bool:
    """Whether definitions must come before uses in this region: not in a graph, which is one block."""
    op = region.parent
    return op is None or len(region.blocks) > 1 or (bool(op.name) and GRAPH_REGION not in op.traits)


def _dominators(region: Region) -> dict[Block, set[Block]]:
    """For each reachable block, the blocks that are on every way to it, itself included."""
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
            known = [dominators[p] for p in predecessors[block] if p in dominators]
            found = set.intersection(*known) | {block}
            if dominators.get(block) != found:
                dominators[block] = found
                changed = True
    return dominators


def _reverse_post_order(entry: Block) -> list[Block]:
    order: list[Block] = []
    seen = {entry}
    stack = [(entry, iter(entry.last.successors if entry.last is not None else ()))]
    while stack:
        block, successors = stack[-1]
        for successor in successors:
            if successor not in seen:
                seen.add(successor)
                following = successor.last.successors if successor.last is not None else ()
                stack.append((successor, iter(following)))
                break
        else:
            order.append(block)
            stack.pop()
    return order[::-1]
