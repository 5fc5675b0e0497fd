"""Region simplification: erases unreachable blocks, dead code, redundant arguments, and merges equal blocks.

The result is that of MLIR's simplifyRegions, because later rewrites depend on it. `Liveness` defines what is
dead. An argument is redundant if all branches forward the same value, which is used instead.

Two blocks are equal if their argument types, operations, operands and successors are equal, no operation has
a region with blocks, and values defined in a block are used only there. The entry block is not merged.
Operands that differ but are defined outside both blocks become block arguments:

    cf.cond_br %c, ^bb1, ^bb2                      cf.cond_br %c, ^bb1(%a : f32), ^bb1(%b : f32)
  ^bb1:                                          ^bb1(%0: f32):
    return %a : f32                   becomes      return %0 : f32
  ^bb2:
    return %b : f32
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdyopt.mlir.ir.attribute import DictAttr, Type
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.dominance import Dominance, has_ssa_dominance
from sdyopt.mlir.ir.interfaces import (
    IncomingBranches,
    append_successor_operands,
    forwarded_operands,
    is_trivially_dead,
    keep_successor_operands,
    would_be_dead,
)
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import BlockArgument, OpOperand, OpResult, Value

# The successors, argument types, signatures and attributes of a block.
_Outline = tuple[tuple[Block, ...], tuple[Type, ...], tuple[tuple[OpSignature, DictAttr], ...]]
# An operand in a block: the index of the operation in the block, and that of the operand.
OperandPosition = tuple[int, int]


def merge_blocks(rewriter: Rewriter, region: Region) -> bool:
    """Merges equal blocks in a region and in nested ones. Returns whether any were merged."""
    changed = False
    # Merging two successors may make their predecessors equal.
    while len(region.blocks) > 1 and _merge_in(rewriter, region):
        changed = True
    for block in region.blocks:
        for op in block.ops:
            for inner in op.regions:
                changed |= merge_blocks(rewriter, inner)
    return changed


def _merge_in(rewriter: Rewriter, region: Region) -> bool:
    clusters: list[_Cluster] = []
    branches = IncomingBranches()
    # A block is compared only with those that are equal up to operands.
    by_outline: dict[_Outline, list[_Cluster]] = {}
    for block in filter(_can_merge, region.blocks[1:]):
        # The properties besides operands that equal blocks have in common.
        last = block.last
        outline = (
            () if last is None else tuple(last.successors),
            tuple([argument.type for argument in block.arguments]),
            tuple([(op.signature, op.attributes) for op in block.ops]),
        )
        similar = by_outline.setdefault(outline, [])
        if not any(cluster.try_add(block) for cluster in similar):
            similar.append(_Cluster(block, branches))
            clusters.append(similar[-1])
    merged = [cluster.merge(rewriter) for cluster in clusters]
    return any(merged)


def _can_merge(block: Block) -> bool:
    """Whether a block has no nested blocks, and the values that it defines are used only in it."""
    for op in block.ops:
        if any(not region.is_empty for region in op.regions):
            return False
        if any(user.parent is not block for result in op.results for user in result.users):
            return False
    return not any(user.parent is not block for argument in block.arguments for user in argument.users)


class _Cluster:
    """Blocks that are equal to the first one, up to operands that are defined outside.

    All have the same outline.
    """

    def __init__(self, first: Block, branches: IncomingBranches) -> None:
        self._blocks = [first]
        # Those before any blocks are merged.
        self._branches = branches
        # The positions of the operands that differ between the blocks.
        self._differing: set[OperandPosition] = set()

    def try_add(self, block: Block) -> bool:
        """Adds a block if it is equal to the first one."""
        differing = _differing_operands(self._blocks[0], block)
        if differing is None:
            return False
        self._blocks.append(block)
        self._differing |= differing
        return True

    def merge(self, rewriter: Rewriter) -> bool:
        """Replaces the other blocks with the first one. Returns whether any were replaced."""
        first, *others = self._blocks
        if not others or (self._differing and not all(map(self._has_declared_operands, self._blocks))):
            return False
        if self._differing:
            self._make_arguments(rewriter)
        rewriter.redirect(others, first)
        for block in others:
            rewriter.erase_block(block)
        return True

    def _branches_to(self, block: Block) -> list[tuple[Op, int]]:
        """The branches that are still there: merging other blocks may have erased some."""
        return [edge for edge in self._branches.to(block) if edge[0].parent is not None]

    def _has_declared_operands(self, block: Block) -> bool:
        """Whether all branches to a block declare their successor operands."""
        return all(branch.successor_operands for branch, _ in self._branches_to(block))

    def _make_arguments(self, rewriter: Rewriter) -> None:
        """Turns the differing operands into arguments of the first block, without duplicates."""
        positions = sorted(self._differing)
        uses = [_uses_at(block, positions) for block in self._blocks]
        values = [[use.value for use in row] for row in uses]
        columns = _deduplicated(values)
        first = self._blocks[0]
        arguments = {
            column: rewriter.add_argument(first, values[0][column].type, values[0][column].location)
            for column in dict.fromkeys(columns)
        }
        for use, column in zip(uses[0], columns, strict=True):
            rewriter.set_operand(use, arguments[column])
        added: dict[Op, dict[int, list[Value]]] = {}
        for block, row in zip(self._blocks, values, strict=True):
            for branch, successor_index in self._branches_to(block):
                # The uses of a branch become the most recent ones with its last successor here.
                added[branch] = added.pop(branch, {})
                added[branch][successor_index] = [row[column] for column in arguments]
        for branch, values_by_successor in added.items():
            append_successor_operands(rewriter, branch, values_by_successor)


def _differing_operands(first: Block, other: Block) -> set[OperandPosition] | None:
    """The positions of operands that differ and are defined outside; None if the blocks are not equal."""
    counterparts: dict[Value, Value] = dict(zip(first.arguments, other.arguments, strict=True))
    positions: set[OperandPosition] = set()
    for number, (op, counterpart) in enumerate(zip(first.ops, other.ops, strict=True)):
        for index, (value, other_value) in enumerate(zip(op.operands, counterpart.operands, strict=True)):
            if value in counterparts or other_value.block is other:
                if counterparts.get(value) is not other_value:
                    return None
            elif value is not other_value:
                if not (_can_forward(first, value) and _can_forward(other, other_value)):
                    return None
                positions.add((number, index))
        counterparts.update(zip(op.results, counterpart.results, strict=True))
    return positions


def _can_forward(block: Block, value: Value) -> bool:
    """Whether all branches to a block can forward a value: a branch cannot forward its own result."""
    op = value.defining_op
    return op is None or not op.is_terminator or op.parent not in block.predecessors


def _uses_at(block: Block, positions: Sequence[OperandPosition]) -> list[OpOperand]:
    ops = list(block.ops)
    return [ops[number].operand_uses[index] for number, index in positions]


def _deduplicated(rows: Sequence[Sequence[Value]]) -> list[int]:
    """For each column, an earlier column with the same values in all rows, or itself if there is none.

    As in MLIR, the only candidate is the first column with the same value in the first row.
    """
    firsts: dict[Value, int] = {}
    columns = []
    for column, value in enumerate(rows[0]):
        first = firsts.setdefault(value, column)
        columns.append(first if all(row[first] is row[column] for row in rows) else column)
    return columns


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
    redundant = _redundant_arguments(rewriter, region)
    branches = [block.last for block in region.blocks if block.last is not None] if redundant else []
    for branch in branches:
        kept = {argument for successor in branch.successors for argument in successor.arguments}
        if not kept.isdisjoint(redundant):
            keep_successor_operands(rewriter, branch, kept.difference(redundant))
    for argument in redundant:
        rewriter.erase_argument(argument)
    changed = bool(redundant)
    for inner in _nested_regions(region):
        changed |= drop_redundant_arguments(rewriter, inner)
    return changed


def _redundant_arguments(rewriter: Rewriter, region: Region) -> dict[BlockArgument, None]:
    """The redundant arguments of the blocks of a region, which are replaced."""
    redundant: dict[BlockArgument, None] = {}
    branches = IncomingBranches()
    for block in region.blocks:
        edges = branches.to(block) if block.arguments else []
        if not edges or not all(branch.successor_operands for branch, _ in edges):
            continue
        for argument in block.arguments:
            # Read again for each argument: replacing an earlier one may have changed the forwarded values.
            first, *others = branches.forwarded(argument)
            if all(value is first for value in others):
                rewriter.replace_all_uses(argument, first)
                redundant[argument] = None
    return redundant


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
        self._branches = IncomingBranches()
        for op in self.ops:
            if not would_be_dead(op):
                self._add_op(op)
        while self._pending:
            live = self._pending.pop()
            if isinstance(live, BlockArgument):
                for value in self._branches.forwarded(live):
                    self._add(value)
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
