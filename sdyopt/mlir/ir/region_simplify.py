"""Region simplification: erases unreachable blocks, dead code, redundant arguments, and merges equal blocks.

The result is that of MLIR's simplifyRegions, because later rewrites depend on it. `Liveness` defines what is
dead. An argument is redundant if all branches forward the same value, which is used instead.
"""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.block_merging import merge_blocks
from sdyopt.mlir.ir.dominance import Dominance, has_ssa_dominance
from sdyopt.mlir.ir.interfaces import (
    forwarded_operands,
    incoming_edges,
    is_trivially_dead,
    keep_successor_operands,
    successor_operand_range,
    successor_operand_values,
    would_be_dead,
)
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value


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


class Liveness:
    """The live operations and block arguments of a region and of nested regions.

    Live are operations that may not be erased even if unused (`would_be_dead`), and all that they depend on.
    A block argument is live if a live operation uses it; forwarding it to a dead block argument does not
    count as a use. If a terminator does not declare its successor operands, all arguments of its successors
    are live. As in MLIR, an unregistered operation with successors forwards nothing, so the arguments of its
    successors may be dead.
    """

    def __init__(self, region: Region) -> None:
        self.ops = [op for block in region.blocks for child in block.ops for op in child.walk()]
        self.live_ops: set[Op] = set()
        self.live_arguments: set[BlockArgument] = set()
        self._pending: list[Op | BlockArgument] = []
        self._predecessors: dict[Region, dict[Block, list[Block]]] = {}
        for op in self.ops:
            if not would_be_dead(op):
                self._add_op(op)
        while self._pending:
            live = self._pending.pop()
            if isinstance(live, BlockArgument):
                self._add_forwarded_operands(live)
            else:
                self._add_operands(live)

    @property
    def dead_ops(self) -> list[Op]:
        """The operations that are not live, in pre-order."""
        if len(self.live_ops) == len(self.ops):
            return []
        return [op for op in self.ops if op not in self.live_ops]

    def _add_operands(self, op: Op) -> None:
        if not op.successors:
            for use in op.operand_uses:
                self._add(use.value)
            return
        forwarded = forwarded_operands(op)
        for use in op.operand_uses:
            if use.index not in forwarded:
                self._add(use.value)
        if op.is_terminator and not op.successor_operands:
            for block in op.successors:
                for argument in block.arguments:
                    self._add(argument)

    def _add_forwarded_operands(self, argument: BlockArgument) -> None:
        for predecessor in dict.fromkeys(self._predecessors_of(argument.owner)):
            branch = predecessor.last
            assert branch is not None
            for successor_index in range(len(branch.successor_operands)):
                if branch.successors[successor_index] is argument.owner:
                    start, _ = successor_operand_range(branch, successor_index)
                    self._add(branch.operand_at(start + argument.index))

    def _predecessors_of(self, block: Block) -> list[Block]:
        region = block.parent
        assert region is not None
        predecessors = self._predecessors.get(region)
        if predecessors is None:
            predecessors = self._predecessors[region] = region.predecessors()
        return predecessors[block]

    def _add(self, value: Value) -> None:
        if isinstance(value, OpResult):
            self._add_op(value.op)
        elif isinstance(value, BlockArgument) and value not in self.live_arguments:
            self.live_arguments.add(value)
            self._pending.append(value)

    def _add_op(self, op: Op) -> None:
        if op not in self.live_ops:
            self.live_ops.add(op)
            self._pending.append(op)
