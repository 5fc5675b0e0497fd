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


class EditLog:
    """Operations, by what has to be looked at again."""

    def __init__(self) -> None:
        # Other discardable attributes, or attributes of arguments and results.
        self.attributes_changed: set[Op] = set()
        # Another form: what the operation says of itself.
        self.signature_changed: set[Op] = set()
        # Other operands: whether they are defined before.
        self.operands_changed: set[Op] = set()
        # At a new place, or around other blocks: everything inside, and the users of the results.
        self.moved: set[Op] = set()
        # Blocks that operations have left, which may lack a terminator now.
        self.departed_blocks: set[Block] = set()
        # Something that any operation may look up has changed.
        self.is_unbounded = False

    def record_signature_change(self, op: Op) -> None:
        """Notes that an operation has another form."""
        self.signature_changed.add(op)
        self.record_symbol_change(op)

    def record_move(self, op: Op) -> None:
        """Notes that an operation has come to where it stands."""
        self.moved.add(op)
        self.record_symbol_change(op)

    def record_departure(self, op: Op, block: Block) -> None:
        """Notes that an operation has gone from a block."""
        self.departed_blocks.add(block)
        self.record_symbol_change(op)

    def record_block_change(self, region: Region) -> None:
        """Notes that a region has other blocks, or blocks with other arguments."""
        if region.parent is None:
            self.is_unbounded = True
        else:
            self.moved.add(region.parent)

    def record_symbol_change(self, op: Op) -> None:
        """Notes that a symbol is another one now. What looks functions up is checked in any case."""
        if SYMBOL in op.traits and FUNCTION not in op.traits:
            self.is_unbounded = True


# The recordings under way, innermost last.
_recordings: list[EditLog] = []


@contextmanager
def recording() -> Iterator[EditLog]:
    """Notes the edits within the `with` block."""
    edits = EditLog()
    _recordings.append(edits)
    try:
        yield edits
    finally:
        _recordings.pop()


def current() -> EditLog:
    """The innermost recording; one that nobody reads if nobody records."""
    return _recordings[-1] if _recordings else EditLog()
