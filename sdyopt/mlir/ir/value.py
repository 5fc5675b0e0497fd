"""Values and their uses.

The uses of a value form a linked list, most recent first, as in MLIR. The results of propagation and of the
canonicalizer depend on this order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from sdyopt.base.diagnostics.location import FusedParts, Location, Source
from sdyopt.base.diagnostics.location import LazyLocation as LazyLocation
from sdyopt.mlir.ir.types import Type

if TYPE_CHECKING:  # values, operations and blocks refer to each other
    from sdyopt.mlir.ir.block import Block
    from sdyopt.mlir.ir.operation import Op


class OpOperand:
    """A use of a value: operand number `index` of `owner`."""

    __slots__ = ("index", "next_use", "owner", "prev_use", "value")

    owner: Op
    index: int
    value: Value
    next_use: OpOperand | None
    prev_use: OpOperand | None

    def __init__(self, owner: Op, index: int, value: Value) -> None:
        self.owner = owner
        self.index = index
        # `link`, inlined because a program has many operands.
        self.value = value
        self.prev_use = None
        head = self.next_use = value.first_use
        if head is not None:
            head.prev_use = self
        value.first_use = self

    def link(self, value: Value) -> None:
        """Makes this the most recent use of `value`. It must not be linked to a value."""
        self.value = value
        self.prev_use = None
        head = self.next_use = value.first_use
        if head is not None:
            head.prev_use = self
        value.first_use = self

    def make_first(self) -> None:
        """Makes this the most recent use of its value, which it is not yet."""
        following, previous, value = self.next_use, self.prev_use, self.value
        assert previous is not None and value.first_use is not None
        previous.next_use = following
        if following is not None:
            following.prev_use = previous
        self.prev_use = None
        self.next_use = value.first_use
        value.first_use.prev_use = self
        value.first_use = self

    def unlink(self) -> None:
        """Removes this from the uses of its value."""
        following, previous = self.next_use, self.prev_use
        if following is not None:
            following.prev_use = previous
        if previous is not None:
            previous.next_use = following
        else:
            self.value.first_use = following


def make_most_recent(uses: Iterable[OpOperand]) -> None:
    """Makes each of these the most recent use of its value, in this order."""
    for use in uses:
        if use.prev_use is not None:
            use.make_first()


class Value:
    """An SSA value: an operation result or a block argument."""

    __slots__ = ("first_use", "type")

    type: Type
    first_use: OpOperand | None

    @property
    def uses(self) -> Iterator[OpOperand]:
        """The uses, most recent first. The caller may unlink each use that it gets."""
        use = self.first_use
        while use is not None:
            following = use.next_use
            yield use
            use = following

    @property
    def users(self) -> Iterator[Op]:
        """The operation of each use, most recent use first; an operation once per use."""
        return (use.owner for use in self.uses)

    @property
    def has_uses(self) -> bool:
        """Whether an operation uses the value."""
        return self.first_use is not None

    @property
    def has_one_use(self) -> bool:
        """Whether the value is an operand exactly once."""
        return self.first_use is not None and self.first_use.next_use is None

    @property
    def defining_op(self) -> Op | None:
        """The operation that defines this value; None for a block argument."""
        return None

    # The block in which the value is defined; None for a result of a detached operation.
    block: Block | None

    @property
    def owner(self) -> Op | None:
        """The operation that defines a result, or that encloses the block of an argument.

        None for an argument of a detached block.
        """
        raise NotImplementedError

    @property
    def location(self) -> Location:
        """The source location, resolved on first use."""
        raise NotImplementedError

    @property
    def lazy_location(self) -> LazyLocation:
        """The location without resolving it, for operations created from this value."""
        raise NotImplementedError


class OpResult(Value):
    """Result number `index` of `op`."""

    __slots__ = ("index", "op")

    op: Op
    index: int

    def __init__(self, op: Op, index: int, type: Type) -> None:
        self.op = op
        self.index = index
        self.type = type
        self.first_use = None

    @property
    def defining_op(self) -> Op:
        return self.op

    @property
    def owner(self) -> Op:
        return self.op

    @property
    def block(self) -> Block | None:  # type: ignore[override]  # an argument has it as a slot
        return self.op.parent

    @property
    def location(self) -> Location:
        return self.op.location

    @property
    def lazy_location(self) -> LazyLocation:
        return self.op.lazy_location


class BlockArgument(Value):
    """Argument number `index` of `block`."""

    __slots__ = ("_location", "_source", "block", "index")

    block: Block
    index: int
    _location: Location | int
    _source: Source | FusedParts  # if `_location` is an offset

    def __init__(self, block: Block, index: int, type: Type, location: LazyLocation) -> None:
        self.block = block
        self.index = index
        self.type = type
        self.first_use = None
        self.location = location

    @property
    def owner(self) -> Op | None:
        return self.block.parent_op

    @property
    def location(self) -> Location:
        location = self._location
        if isinstance(location, int):
            location = self._location = self._source.location(location)
        return location

    @location.setter
    def location(self, location: LazyLocation) -> None:
        if isinstance(location, tuple):
            self._source, self._location = location
        else:
            self._location = location

    @property
    def lazy_location(self) -> LazyLocation:
        location = self._location
        return (self._source, location) if isinstance(location, int) else location
