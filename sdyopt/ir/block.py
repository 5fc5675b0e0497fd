"""Blocks and regions: the places in which operations stand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sdyopt.ir.types import Type
from sdyopt.ir.value import BlockArgument, LazyLocation

if TYPE_CHECKING:  # operations hold regions, regions hold blocks, blocks hold operations
    from sdyopt.ir.operation import Op


class Block:
    """A list of operations with arguments. Operations are linked, so inserting costs nothing."""

    __slots__ = ("arguments", "first", "is_ordered", "last", "parent")

    arguments: list[BlockArgument]
    first: Op | None
    last: Op | None
    parent: Region | None

    def __init__(self) -> None:
        self.arguments = []
        self.first = None
        self.last = None
        self.parent = None
        self.is_ordered = False

    @property
    def ops(self) -> Iterator[Op]:
        """The operations in order. The current one may be erased or moved while iterating."""
        op = self.first
        while op is not None:
            following = op.next
            yield op
            op = following

    @property
    def parent_op(self) -> Op | None:
        return self.parent.parent if self.parent is not None else None

    @property
    def terminator(self) -> Op | None:
        """The last operation, if its class says that it ends blocks."""
        return self.last if self.last is not None and self.last.is_terminator else None

    @property
    def predecessors(self) -> list[Block]:
        """Blocks that may branch here, once per branch."""
        if self.parent is None:
            return []
        return [
            block
            for block in self.parent.blocks
            if block.last is not None
            for successor in block.last.successors
            if successor is self
        ]

    def add_argument(self, type: Type, location: LazyLocation) -> BlockArgument:
        argument = BlockArgument(self, len(self.arguments), type, location)
        self.arguments.append(argument)
        return argument

    def append(self, op: Op) -> None:
        """Links a detached operation in behind all others."""
        before = self.last
        op.parent = self
        op.prev = before
        op.next = None
        self.last = op
        if before is None:
            self.first = op
        else:
            before.next = op
        if self.is_ordered:
            op.order = before.order + 1 if before is not None else 0

    def insert_before(self, anchor: Op | None, op: Op) -> None:
        """Links a detached operation in before `anchor`, or at the end when that is None."""
        if anchor is None:
            self.append(op)
            return
        before = anchor.prev
        op.parent = self
        op.prev = before
        op.next = anchor
        anchor.prev = op
        if before is None:
            self.first = op
        else:
            before.next = op
        self.is_ordered = False

    def detach(self, op: Op) -> None:
        """Unlinks an operation, which keeps its operands, results and regions."""
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
        """Gives the operations ascending `order`s, for comparing positions."""
        for order, op in enumerate(self.ops):
            op.order = order
        self.is_ordered = True


class Region:
    """A list of blocks that belongs to an operation."""

    __slots__ = ("blocks", "parent")

    blocks: list[Block]
    parent: Op | None

    def __init__(self) -> None:
        self.blocks = []
        self.parent = None

    @property
    def entry(self) -> Block | None:
        return self.blocks[0] if self.blocks else None

    @property
    def is_empty(self) -> bool:
        return not self.blocks

    @property
    def index(self) -> int:
        """Which region of its operation this is."""
        assert self.parent is not None
        return next(i for i, region in enumerate(self.parent.regions) if region is self)

    def add_block(self, block: Block | None = None) -> Block:
        block = Block() if block is None else block
        block.parent = self
        self.blocks.append(block)
        return block

    def is_ancestor(self, other: Region | None) -> bool:
        """Whether `other` is this region or lies inside it."""
        while other is not None:
            if other is self:
                return True
            op = other.parent
            other = op.parent.parent if op is not None and op.parent is not None else None
        return False
