"""The worklist of a propagation round, in the order of MLIR's greedy pattern driver.

A round visits every dirty operation in program order. Operations that depend on an update are pushed on a
stack, and visited before the next one in order, unless they are on the stack already or have not been reached
in this round. An operation is dirty until its first visit, and again once a sharding that it reads has
changed, or how it propagates. Only visits of dirty operations can change anything, so all others are skipped.

The results of the main function, which are visited before and after each round, are dirty likewise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator


class Worklist:
    """Operations by index in program order, then the results of the main function. All are dirty at first."""

    __slots__ = ("_dirty", "_op_count", "_position", "_stack", "_stacked")

    def __init__(self, op_count: int, result_count: int) -> None:
        self._dirty = bytearray(b"\1") * (op_count + result_count)
        self._op_count = op_count
        # The last operation in program order that was reached in this round.
        self._position = -1
        self._stack: list[int] = []
        self._stacked = bytearray(op_count)

    def start_round(self) -> None:
        """Starts again from the first operation."""
        self._position = -1

    def mark_dirty(self, index: int) -> None:
        """Makes an operation or result dirty; it is visited when it is reached or pushed."""
        self._dirty[index] = 1

    def push(self, indices: Iterable[int]) -> None:
        """Pushes operations that have been reached in this round and are not on the stack."""
        position, stacked = self._position, self._stacked
        for index in indices:
            if index <= position and not stacked[index]:
                stacked[index] = 1
                self._stack.append(index)

    def pop(self) -> int:
        """The next operation to visit, no longer dirty; negative at the end of the round."""
        stack, dirty = self._stack, self._dirty
        while stack:
            index = stack.pop()
            self._stacked[index] = 0
            if dirty[index]:
                dirty[index] = 0
                return index
        index = dirty.find(1, self._position + 1, self._op_count)
        if index < 0:
            self._position = self._op_count
        else:
            self._position = index
            dirty[index] = 0
        return index

    def dirty_results(self) -> Iterator[int]:
        """The dirty results, in order; each is no longer dirty when it is yielded."""
        dirty = self._dirty
        index = dirty.find(1, self._op_count)
        while index >= 0:
            dirty[index] = 0
            yield index
            index = dirty.find(1, index + 1)
