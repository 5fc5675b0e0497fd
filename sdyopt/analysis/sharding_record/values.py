"""What becomes of the values of a program while passes replace and copy them."""

from __future__ import annotations

from sdyopt.mlir.ir.value import Value


class TrackedValues:
    """Which values replace others and which are copies. Implements `ValueTracker`."""

    def __init__(self) -> None:
        self._successor: dict[Value, Value] = {}
        self._predecessors: dict[Value, list[Value]] = {}
        self._original: dict[Value, Value] = {}
        self._copies: dict[Value, list[Value]] = {}

    def replaced(self, old: Value, new: Value) -> None:
        """`new` takes the place of `old`."""
        if old is not new:
            self._successor[old] = new
            self._predecessors.setdefault(new, []).append(old)

    def copied(self, original: Value, copy: Value) -> None:
        """`copy` is a copy of `original`."""
        if original is not copy:
            self._original.setdefault(copy, original)
            self._copies.setdefault(original, []).append(copy)

    def descendants(self, value: Value) -> list[Value]:
        """The value, all that replaced it and all its copies, directly or indirectly."""
        found = {value: None}
        pending = [value]
        while pending:
            current = pending.pop(0)
            successor = self._successor.get(current)
            for each in (*(() if successor is None else (successor,)), *self._copies.get(current, ())):
                if each not in found:
                    found[each] = None
                    pending.append(each)
        return list(found)

    def originals(self, value: Value) -> list[Value]:
        """The value and what it is a copy of, directly or indirectly."""
        found = [value]
        while (original := self._original.get(found[-1])) is not None and original not in found:
            found.append(original)
        return found

    def predecessors(self, value: Value) -> list[Value]:
        """The values whose place this one took, directly or indirectly."""
        found: dict[Value, None] = {}
        pending = list(self._predecessors.get(value, ()))
        while pending:
            old = pending.pop(0)
            if old not in found:
                found[old] = None
                pending += self._predecessors.get(old, ())
        return list(found)

    def successors(self, value: Value) -> list[Value]:
        """The value and what has replaced it, one after the other."""
        found = [value]
        while (successor := self._successor.get(found[-1])) is not None and successor not in found:
            found.append(successor)
        return found

    @property
    def replacements(self) -> dict[Value, Value]:
        """The value that took the place of each replaced one."""
        return self._successor
