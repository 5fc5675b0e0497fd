"""The edit log: which operations of a valid program must be verified again after edits.

    with recording() as edits:
        ...                       # edits through rewriters
    verify_incrementally(verifier, module, edits)

A rewriter records its edits in the log of the `recording` that is innermost when the rewriter is created. A
`ValueTracker` also learns which values replace others, or are copies of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from sdyopt.base.context import Part
from sdyopt.mlir.ir.attribute import DictAttr
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import FUNCTION, SYMBOL
from sdyopt.mlir.ir.value import Value


class EditLog:
    """The edited operations, by kind of edit."""

    def __init__(self) -> None:
        # Discardable attributes have changed, or inherent ones outside the signature, such as `arg_attrs`;
        # with the discardable attributes before that.
        self.attributes_changed: dict[Op, DictAttr] = {}
        # The signature has changed.
        self.signature_changed: set[Op] = set()
        # Operands have changed: their definitions must dominate the operation.
        self.operands_changed: set[Op] = set()
        # Operations that were inserted or moved, or whose blocks or block arguments have changed: they,
        # everything nested in them and the users of their results must be verified. Not functions that were
        # moved within a block.
        self.moved: set[Op] = set()
        # Valid operations with edits inside, in another log: only the enclosing operations must be verified.
        self.changed_inside: set[Op] = set()
        # Erased operations, which `release_erased` frees.
        self.erased: list[Op] = []
        # Blocks from which operations were removed, and which may lack a terminator.
        self.shrunk_blocks: set[Block] = set()
        # Everything must be verified, for example because any operation may refer to a changed symbol.
        self.needs_full_verification = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing has to be verified."""
        return not (
            self.needs_full_verification
            or self.attributes_changed
            or self.signature_changed
            or self.operands_changed
            or self.moved
            or self.changed_inside
            or self.shrunk_blocks
        )

    def record_signature_change(self, op: Op) -> None:
        """Records that the signature of an operation has changed."""
        self.signature_changed.add(op)
        self.record_symbol_change(op)

    def record_move(self, op: Op) -> None:
        """Records that an operation was inserted or moved."""
        self.moved.add(op)
        self.record_symbol_change(op)

    def record_removal(self, op: Op, block: Block) -> None:
        """Records that an operation was removed from a block."""
        self.shrunk_blocks.add(block)
        self.record_symbol_change(op)

    def record_erasure(self, op: Op) -> None:
        """Records that an operation was erased."""
        self.erased.append(op)

    def release_erased(self) -> None:
        """Frees the erased operations. Nothing may refer to them any more."""
        for op in self.erased:
            if op.parent is None:
                release(op)

    def clear(self) -> None:
        """Forgets all edits. The pass may keep its log alive, and with it erased operations."""
        self.needs_full_verification = False
        for edited in (
            self.attributes_changed,
            self.signature_changed,
            self.operands_changed,
            self.moved,
            self.changed_inside,
            self.erased,
            self.shrunk_blocks,
        ):
            edited.clear()

    def record_block_change(self, region: Region) -> None:
        """Records that the blocks of a region, or their arguments, have changed."""
        if region.parent is None:
            self.needs_full_verification = True
        else:
            self.moved.add(region.parent)

    def record_symbol_change(self, op: Op) -> None:
        """Requires full verification if `op` is a symbol other than a function.

        No edit to a function requires it: incremental verification always verifies the enclosing symbol
        tables, and with them all calls.
        """
        if SYMBOL in op.traits and FUNCTION not in op.traits:
            self.needs_full_verification = True

    def record_replacement(self, old: Value, new: Value) -> None:
        """A value replaces another one in all uses. Only a tracker needs it."""

    def record_copies(self, copies: Mapping[Value, Value]) -> None:
        """Values are mapped to their copies, or to what replaces them in a copy. Only a tracker needs it."""


class ValueTracker(Protocol):
    """Learns what becomes of values."""

    def replaced(self, old: Value, new: Value) -> None: ...
    def copied(self, original: Value, copy: Value) -> None: ...


class _TrackingEditLog(EditLog):
    def __init__(self, tracker: ValueTracker) -> None:
        super().__init__()
        self._tracker = tracker

    def record_erasure(self, op: Op) -> None:
        """Does nothing: the tracker may keep values of erased operations."""

    def record_replacement(self, old: Value, new: Value) -> None:
        self._tracker.replaced(old, new)

    def record_copies(self, copies: Mapping[Value, Value]) -> None:
        for original, copy in copies.items():
            self._tracker.copied(original, copy)


_TRACKER = Part[ValueTracker | None](None)
_EDIT_LOG = Part[EditLog | None](None)


def tracking_values(tracker: ValueTracker) -> AbstractContextManager[None]:
    """Tracks values in each `recording` in the `with` block."""
    return _TRACKER.set_to(tracker)


@contextmanager
def recording(log: EditLog | None = None) -> Iterator[EditLog]:
    """Records the edits made in the `with` block, in a new log or in the given one."""
    tracker = _TRACKER.value
    edits = log or (EditLog() if tracker is None else _TrackingEditLog(tracker))
    with _EDIT_LOG.set_to(edits):
        yield edits


def current_log() -> EditLog:
    """The innermost active log; outside of any `recording`, a new one that is never read."""
    return _EDIT_LOG.value or EditLog()


def release(op: Op) -> None:
    """Removes the references inside an erased operation and everything nested in it. It has no parts then.

    An operation and its results, uses, regions and blocks refer to each other, so Python frees them only by
    cyclic garbage collection, which is off while a program is processed.
    """
    for region in op.regions:
        for block in region.blocks:
            child = block.first
            while child is not None:
                following = child.next
                child.parent = child.prev = child.next = None
                release(child)
                child = following
            block.first = block.last = block.parent = None
            block.arguments = []
        region.blocks = []
        region.parent = None
    op._operands = op.results = op.regions = op.successors = ()
