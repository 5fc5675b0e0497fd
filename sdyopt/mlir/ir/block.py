"""Blocks and regions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sdyopt.mlir.ir.types import Type
from sdyopt.mlir.ir.value import BlockArgument, LazyLocation

if TYPE_CHECKING:  # operations contain regions, regions contain blocks, blocks contain operations
    from sdyopt.mlir.ir.operation import Op


class Block:
    """Arguments and a doubly linked list of operations.

    `is_ordered`: whether `Op.order` increases from each operation to the next, in steps of any size.
    `uses`: how often operations have this block as a successor.
    """

    __slots__ = ("arguments", "first", "is_ordered", "last", "parent", "uses")

    arguments: list[BlockArgument]
    first: Op | None
    last: Op | None
    parent: Region | None
    uses: int

    def __init__(self) -> None:
        self.arguments = []
        self.first = None
        self.last = None
        self.parent = None
        self.is_ordered = False
        self.uses = 0

    @property
    def ops(self) -> Iterator[Op]:
        """The operations in order. The yielded operation may be erased or moved, but not the next one."""
        op = self.first
        while op is not None:
            following = op.next
            yield op
            op = following

    @property
    def parent_op(self) -> Op | None:
        """The operation with the region of the block; None for a detached block."""
        return self.parent.parent if self.parent is not None else None

    @property
    def terminator(self) -> Op | None:
        """The last operation if it is a terminator, else None."""
        return self.last if self.last is not None and self.last.is_terminator else None

    @property
    def predecessors(self) -> list[Block]:
        """The blocks that branch to this one; a block that does so twice occurs twice.

        Visits all branches of the region; `Region.predecessors` does so once for all blocks.
        """
        return [] if self.parent is None else self.parent.predecessors()[self]

    def add_argument(self, type: Type, location: LazyLocation) -> BlockArgument:
        """Appends an argument."""
        argument = BlockArgument(self, len(self.arguments), type, location)
        self.arguments.append(argument)
        return argument

    def append(self, op: Op) -> None:
        """Inserts a detached operation at the end."""
        previous = self.last
        op.parent = self
        op.prev = previous
        op.next = None
        self.last = op
        if previous is None:
            self.first = op
        else:
            previous.next = op
        if self.is_ordered:
            op.order = previous.order + 1 if previous is not None else 0

    def insert_before(self, anchor: Op | None, op: Op) -> None:
        """Inserts a detached operation before `anchor`, or at the end if that is None."""
        if anchor is None:
            self.append(op)
            return
        previous = anchor.prev
        op.parent = self
        op.prev = previous
        op.next = anchor
        anchor.prev = op
        if previous is None:
            self.first = op
        else:
            previous.next = op
        self.is_ordered = False

    def detach(self, op: Op) -> None:
        """Removes an operation, which keeps its operands, results and regions."""
        if op.prev is None:
            self.first = op.next
        else:
            op.prev.next = op.next
        if op.next is None:
            self.last = op.prev
        else:
            op.next.prev = op.prev
        op.parent = op.prev = op.next = None

    def number(self) -> None:
        """Sets `order` of the operations, which `Op.is_before` and the verifier compare."""
        order, op = 0, self.first
        while op is not None:
            op.order = order
            order += 1
            op = op.next
        self.is_ordered = True


class Region:
    """A list of blocks, owned by an operation."""

    __slots__ = ("blocks", "parent")

    blocks: list[Block]
    parent: Op | None

    def __init__(self) -> None:
        self.blocks = []
        self.parent = None

    @property
    def entry(self) -> Block | None:
        """The entry block; None if the region is empty."""
        return self.blocks[0] if self.blocks else None

    @property
    def is_empty(self) -> bool:
        """Whether the region has no blocks."""
        return not self.blocks

    @property
    def index(self) -> int:
        """The index of this region in its operation."""
        assert self.parent is not None
        return next(i for i, region in enumerate(self.parent.regions) if region is self)

    def add_block(self, block: Block | None = None) -> Block:
        """Appends a block, by default a new one."""
        block = Block() if block is None else block
        block.parent = self
        self.blocks.append(block)
        return block

    def predecessors(self) -> dict[Block, list[Block]]:
        """The predecessors of each block, in the order of blocks; `Block.predecessors` describes them."""
        predecessors: dict[Block, list[Block]] = {block: [] for block in self.blocks}
        for block in self.blocks:
            for successor in block.last.successors if block.last is not None else ():
                predecessors.setdefault(successor, []).append(block)
        return predecessors

    def is_ancestor(self, other: Region | None) -> bool:
        """Whether `other` is this region or is nested in it."""
        while other is not None:
            if other is self:
                return True
            op = other.parent
            other = op.parent.parent if op is not None and op.parent is not None else None
        return False
