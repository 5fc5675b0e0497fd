"""Merges equal blocks of a region.

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

from collections.abc import Sequence

from sdyopt.mlir.ir.attribute import DictAttr, Type
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.interfaces import append_successor_operands, incoming_edges
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import OpOperand, Value

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
    # A block is compared only with those that are equal up to operands.
    by_outline: dict[_Outline, list[_Cluster]] = {}
    for block in filter(_can_merge, region.blocks[1:]):
        similar = by_outline.setdefault(_outline(block), [])
        if not any(cluster.try_add(block) for cluster in similar):
            similar.append(_Cluster(block))
            clusters.append(similar[-1])
    merged = [cluster.merge(rewriter) for cluster in clusters]
    return any(merged)


def _outline(block: Block) -> _Outline:
    """What equal blocks have in common besides operands."""
    last = block.last
    return (
        () if last is None else tuple(last.successors),
        tuple([argument.type for argument in block.arguments]),
        tuple([(op.signature, op.attributes) for op in block.ops]),
    )


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

    def __init__(self, first: Block) -> None:
        self._blocks = [first]
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
        if not others or (self._differing and not all(map(_has_declared_operands, self._blocks))):
            return False
        if self._differing:
            self._make_arguments(rewriter)
        for block in others:
            rewriter.redirect(block, first)
            rewriter.erase_block(block)
        return True

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
        for block, row in zip(self._blocks, values, strict=True):
            for branch, successor_index in incoming_edges(block):
                append_successor_operands(
                    rewriter, branch, successor_index, [row[column] for column in arguments]
                )


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


def _has_declared_operands(block: Block) -> bool:
    """Whether all branches to a block declare their successor operands."""
    return all(branch.successor_operands for branch, _ in incoming_edges(block))


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
