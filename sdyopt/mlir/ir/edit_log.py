"""The edit log of a pass: which operations it erased, and which values replace others, or are copies of them.

    with recording() as edits:
        ...                       # edits through rewriters
    edits.release_erased()

A rewriter records its edits in the log of the `recording` that is innermost when the rewriter is created.
Only a `ValueTracker` learns of values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from sdyopt.base.context import ContextPart
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import Value


class EditLog:
    """The erased operations, and whether an edit may have left an invalid program."""

    def __init__(self) -> None:
        self.erased: list[Op] = []
        self.may_be_invalid = False

    def record_erasure(self, op: Op) -> None:
        """Records that an operation was erased."""
        self.erased.append(op)

    def release_erased(self) -> None:
        """Frees the erased operations. Nothing may refer to them any more."""
        for op in self.erased:
            if op.parent is None:
                release(op)
        # The pass may keep its log alive.
        self.erased.clear()

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


_TRACKER = ContextPart[ValueTracker | None](None)
_EDIT_LOG = ContextPart[EditLog | None](None)


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
