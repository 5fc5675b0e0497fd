"""Dominance of blocks and values, and its verification.

Definitions dominate uses, and isolated operations use no values from outside.
"""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import GRAPH_REGION, ISOLATED
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value

# The children of each block in the dominator tree.
DominatorTree = dict[Block, list[Block]]


class Dominance:
    """Dominance information, computed per region on demand. Invalid once blocks or branches are edited."""

    def __init__(self) -> None:
        self._trees: dict[Region, _NumberedTree] = {}
        self._isolated: dict[Region, Region] = {}

    def value_dominates(self, value: Value, user: Op) -> bool:
        """Whether `value` properly dominates `user`. In a graph region, values dominate the whole region."""
        block = value.block
        home = None if block is None else block.parent
        if block is None or home is None:
            return False
        definition = value.defining_op
        # The ancestor of the user in the region of the definition. It may be many operations further out.
        ancestor: Op | None = user
        around = user.parent
        while ancestor is not None and (around is None or around.parent is not home):
            ancestor = None if around is None or around.parent is None else around.parent.parent
            around = None if ancestor is None else ancestor.parent
        if ancestor is None or around is None:
            return False
        if not has_ssa_dominance(home):
            return True
        if definition is None:
            return around is block or self.block_dominates(block, around)
        if around is block:
            return definition is not ancestor and definition.is_before(ancestor)
        return self.block_dominates(block, around)

    def block_dominates(self, block: Block, other: Block) -> bool:
        """Whether every path from the entry block of their region to `other` contains `block`."""
        region = block.parent
        assert region is not None
        intervals = self._tree(region).intervals
        if other not in intervals:
            return True
        if block not in intervals:
            return False
        first, last = intervals[block]
        return first <= intervals[other][0] <= last

    def is_reachable(self, block: Block) -> bool:
        """Whether there is a path from the entry block to this block."""
        region = block.parent
        if region is None or region.blocks[0] is block:
            return True
        return block in self._tree(region).intervals

    def isolated_region(self, region: Region | None) -> Region | None:
        """The innermost region of an isolated operation, this one or one around it; None if there is none."""
        passed: list[Region] = []
        isolated = None
        while isolated is None and region is not None and region.parent is not None:
            isolated = region if ISOLATED in region.parent.traits else self._isolated.get(region)
            passed.append(region)
            region = region.parent.parent_region
        if isolated is not None:
            self._isolated.update(dict.fromkeys(passed, isolated))
        return isolated

    def tree(self, region: Region) -> DominatorTree:
        """The dominator tree of the reachable blocks."""
        return self._tree(region).children

    def _tree(self, region: Region) -> _NumberedTree:
        tree = self._trees.get(region)
        if tree is None:
            tree = self._trees[region] = _NumberedTree(region)
        return tree


def has_ssa_dominance(region: Region) -> bool:
    """Whether definitions must dominate uses in this region.

    They need not in a graph region. In an unregistered operation, a region with one block may be one.
    """
    op = region.parent
    return op is None or len(region.blocks) > 1 or (bool(op.name) and GRAPH_REGION not in op.traits)


class _NumberedTree:
    """The dominator tree of a region, with its reachable blocks numbered in pre-order.

    A block dominates the blocks whose numbers are in its interval: from its own number to that of its last
    descendant.
    """

    def __init__(self, region: Region) -> None:
        entry = region.blocks[0]
        self.children: DominatorTree = {}
        for block, immediate in _immediate_dominators(entry).items():
            if block is not entry:
                self.children.setdefault(immediate, []).append(block)
        self.intervals: dict[Block, tuple[int, int]] = {}
        self._number(entry)

    def _number(self, entry: Block) -> None:
        count = 0
        path: list[tuple[Block, int, Iterator[Block]]] = [(entry, 0, iter(self.children.get(entry, ())))]
        while path:
            block, first, children = path[-1]
            child = next(children, None)
            if child is None:
                self.intervals[block] = (first, count)
                path.pop()
            else:
                count += 1
                path.append((child, count, iter(self.children.get(child, ()))))


def _immediate_dominators(entry: Block) -> dict[Block, Block]:
    """The immediate dominator of each reachable block, by the algorithm of Cooper, Harvey and Kennedy.

    The entry block is its own.
    """
    order = _reverse_post_order(entry)
    number = {block: index for index, block in enumerate(order)}
    predecessors: list[list[int]] = [[] for _ in order]
    for index, block in enumerate(order):
        for successor in block.last.successors if block.last is not None else ():
            predecessors[number[successor]].append(index)
    unknown = -1
    immediate = [0] + [unknown] * (len(order) - 1)
    changed = True
    while changed:
        changed = False
        for index in range(1, len(order)):
            known = [predecessor for predecessor in predecessors[index] if immediate[predecessor] != unknown]
            common = known[0]
            for other in known[1:]:
                while common != other:
                    if common > other:
                        common = immediate[common]
                    else:
                        other = immediate[other]
            if immediate[index] != common:
                immediate[index] = common
                changed = True
    return {block: order[immediate[index]] for index, block in enumerate(order)}


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


def check_uses_in(block: Block, dominance: Dominance) -> list[Op]:
    """Checks the operands of all operations in a block; raises DiagnosticError.

    Returns the operations with regions. Programs have many operations, so this calls few functions.
    """
    if not block.is_ordered:
        block.number()
    is_reachable = dominance.is_reachable(block)
    with_regions = []
    op = block.first
    while op is not None:
        for use in op._operands:
            value = use.value
            # The fast path of `check_uses`.
            if type(value) is OpResult:
                definition = value.op
                if definition.parent is block and definition.order < op.order:
                    continue
            elif type(value) is BlockArgument and value.block is block:
                continue
            check_uses(op, dominance, is_reachable)
            break
        if op.regions:
            with_regions.append(op)
        op = op.next
    return with_regions


def check_uses(op: Op, dominance: Dominance, is_reachable: bool) -> None:
    """Checks the operands of an operation, whose block must be ordered; raises DiagnosticError.

    Dominance is checked only if the block `is_reachable`.
    """
    block = op.parent
    for use in op._operands:
        value = use.value
        # Fast path: defined earlier in the same block, or an argument of it.
        if type(value) is OpResult:
            if value.op.parent is block and value.op.order < op.order:
                continue
        elif type(value) is BlockArgument and value.block is block:
            continue
        isolated = _isolating_op(value, op, dominance)
        if isolated is not None:
            error = op.op_error("using value defined outside the region")
            error.note("required by region isolation constraints", isolated.location)
            help = "pass the value to the operation as an operand; its body sees its arguments only"
            raise error.help(help)
        if is_reachable and not dominance.value_dominates(value, op):
            raise _dominance_error(op, use.index)


def _isolating_op(value: Value, op: Op, dominance: Dominance) -> Op | None:
    """The isolated operation that encloses `op` but not the definition of `value`; None if there is none."""
    region, block = dominance.isolated_region(op.parent_region), value.block
    if region is None or block is None or dominance.isolated_region(block.parent) is region:
        return None
    return None if region.is_ancestor(block.parent) else region.parent


def _dominance_error(op: Op, index: int) -> DiagnosticError:
    error = op.error(f"operand #{index} does not dominate this use")
    error.help("a value is defined before its use, in the same block or one that dominates it")
    error.diagnostic.operation = op
    value = op.operand_at(index)
    block, other = op.parent, value.block
    assert block is not None
    definition = value.defining_op
    if definition is not None:
        if other is block:
            where = "op in the same block"
        else:
            where = "op " + _relation(block, other, "is neither in a parent nor in a child region")
        return error.note(f"operand defined here ({where})", definition.location)
    assert other is not None and other.parent is not None
    number = other.parent.blocks.index(other)
    owner = other.parent_op
    where = _relation(block, other, "neither in a parent nor in a child region")
    return error.note(
        f"operand defined as a block argument (block #{number} {where})",
        owner.location if owner is not None else op.location,
    )


def _relation(block: Block, other: Block | None, otherwise: str) -> str:
    region, defining = block.parent, other.parent if other is not None else None
    assert region is not None
    if defining is region:
        return "in the same region"
    if defining is not None and defining.is_ancestor(region):
        return "in a parent region"
    if region.is_ancestor(defining):
        return "in a child region"
    return otherwise
