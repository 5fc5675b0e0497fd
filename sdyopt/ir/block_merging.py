"""Equal blocks of a region become one.

Blocks are equal if they do the same with the same values, go on to the same blocks, and nobody outside uses
what they define. Where they use different values from outside, these become arguments of the one block:

    cf.cond_br %c, ^bb1, ^bb2                      cf.cond_br %c, ^bb1(%a : f32), ^bb1(%b : f32)
  ^bb1:                                          ^bb1(%0: f32):
    return %a : f32                   becomes      return %0 : f32
  ^bb2:
    return %b : f32
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from sdyopt.ir.block import Block, Region
from sdyopt.ir.branch_interface import hand_over_also, ways_into
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.value import OpOperand, Value

# The position of a use in a block: the number of the operation, and that of its operand.
InsertionPoint = tuple[int, int]


def merge_blocks(rewriter: Rewriter, region: Region) -> bool:
    """Whether blocks were merged, in the region or in those inside it."""
    changed = False
    # What two blocks go on to may be one block now.
    while len(region.blocks) > 1 and _merge_in(rewriter, region):
        changed = True
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
    merged = [cluster.merge(rewriter) for cluster in clusters]
    return any(merged)


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
        self._blocks = [first]
        # Where the blocks use different values from outside.
        self._differing: set[InsertionPoint] = set()

    def takes(self, block: Block) -> bool:
        """Adds a block if it is like the first one."""
        places = _differing_places(self._blocks[0], block)
        if places is None:
            return False
        self._blocks.append(block)
        self._differing |= places
        return True

    def merge(self, rewriter: Rewriter) -> bool:
        """Lets the first block take the place of all others, if there are any."""
        first, *others = self._blocks
        if not others or (self._differing and not all(map(_has_only_branches, self._blocks))):
            return False
        if self._differing:
            self._make_arguments(rewriter)
        for block in others:
            rewriter.redirect(block, first)
            rewriter.erase_block(block)
        return True

    def _make_arguments(self, rewriter: Rewriter) -> None:
        """Makes arguments of the first block of the values that differ, one for several equal ones."""
        places = sorted(self._differing)
        uses = [_uses_at(block, places) for block in self._blocks]
        values = [[use.value for use in row] for row in uses]
        columns = _without_repetitions(values)
        first = self._blocks[0]
        arguments = {
            column: rewriter.add_argument(first, values[0][column].type, values[0][column].location)
            for column in dict.fromkeys(columns)
        }
        for use, column in zip(uses[0], columns, strict=True):
            rewriter.set_operand(use, arguments[column])
        for block, row in zip(self._blocks, values, strict=True):
            for branch, number in ways_into(block):
                hand_over_also(rewriter, branch, number, [row[column] for column in arguments])


def _differing_places(first: Block, other: Block) -> set[InsertionPoint] | None:
    """Where two blocks use different values from outside; None if that is not all in which they differ."""
    if _successors(first) != _successors(other):
        return None
    if [a.type for a in first.arguments] != [a.type for a in other.arguments]:
        return None
    pairs = list(zip_longest(first.ops, other.ops))
    counterparts: dict[Value, Value] = dict(zip(first.arguments, other.arguments, strict=True))
    places: set[InsertionPoint] = set()
    for number, (op, its_like) in enumerate(pairs):
        if op is None or its_like is None:
            return None
        if op.signature is not its_like.signature or op.attributes is not its_like.attributes:
            return None
        for index, (value, wanted) in enumerate(zip(op.operands, its_like.operands, strict=True)):
            if value in counterparts or wanted.block is other:
                if counterparts.get(value) is not wanted:
                    return None
            elif value is not wanted:
                if not (_can_be_handed_to(first, value) and _can_be_handed_to(other, wanted)):
                    return None
                places.add((number, index))
        counterparts.update(zip(op.results, its_like.results, strict=True))
    return places


def _successors(block: Block) -> list[Block]:
    last: Op | None = block.last
    return [] if last is None else list(last.successors)


def _can_be_handed_to(block: Block, value: Value) -> bool:
    """Whether a value is there before the branch to a block: not if it is made by that branch."""
    op = value.defining_op
    return op is None or not op.is_terminator or op.parent not in block.predecessors


def _has_only_branches(block: Block) -> bool:
    """Whether it is known of all that goes on to a block what it hands over."""
    return all(branch.target_operands for branch, _ in ways_into(block))


def _uses_at(block: Block, places: Sequence[InsertionPoint]) -> list[OpOperand]:
    ops = list(block.ops)
    return [ops[number].operand_uses[index] for number, index in places]


def _without_repetitions(rows: Sequence[Sequence[Value]]) -> list[int]:
    """For each column, the one to take in its place: the first with the same values in all rows.

    As in MLIR, only that column is tried which is the first with its value in the first row.
    """
    firsts: dict[Value, int] = {}
    taken = []
    for column, value in enumerate(rows[0]):
        first = firsts.setdefault(value, column)
        taken.append(first if all(row[first] is row[column] for row in rows) else column)
    return taken
