"""What edits have touched: where a program that was valid may have become wrong.

    with recording() as touched:
        ...                       # edits through rewriters
    verifier.verify_touched(module, touched)

The rewriter writes it down for whoever records; the innermost recording counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sdyopt.ir.block import Block, Region
from sdyopt.ir.operation import Op
from sdyopt.ir.traits import FUNCTION, SYMBOL


class Touched:
    """Operations, by what has to be looked at again."""

    def __init__(self) -> None:
        # Other discardable attributes, or attributes of arguments and results.
        self.annotated: set[Op] = set()
        # Another form: what the operation says of itself.
        self.restated: set[Op] = set()
        # Other operands: whether they are defined before.
        self.rewired: set[Op] = set()
        # At a new place, or around other blocks: everything inside, and the users of the results.
        self.placed: set[Op] = set()
        # Blocks that operations have left, which may lack a terminator now.
        self.left: set[Block] = set()
        # Something that any operation may look up has changed.
        self.is_unbounded = False

    def restate(self, op: Op) -> None:
        """Notes that an operation has another form."""
        self.restated.add(op)
        self.look_up(op)

    def place(self, op: Op) -> None:
        """Notes that an operation has come to where it stands."""
        self.placed.add(op)
        self.look_up(op)

    def leave(self, op: Op, block: Block) -> None:
        """Notes that an operation has gone from a block."""
        self.left.add(block)
        self.look_up(op)

    def rebuild(self, region: Region) -> None:
        """Notes that a region has other blocks, or blocks with other arguments."""
        if region.parent is None:
            self.is_unbounded = True
        else:
            self.placed.add(region.parent)

    def look_up(self, op: Op) -> None:
        """Notes that a symbol is another one now. What looks functions up is checked in any case."""
        if SYMBOL in op.traits and FUNCTION not in op.traits:
            self.is_unbounded = True


# The recordings under way, innermost last.
_recordings: list[Touched] = []


@contextmanager
def recording() -> Iterator[Touched]:
    """Notes the edits within the `with` block."""
    touched = Touched()
    _recordings.append(touched)
    try:
        yield touched
    finally:
        _recordings.pop()


def current() -> Touched:
    """The innermost recording; one that nobody reads if nobody records."""
    return _recordings[-1] if _recordings else Touched()
