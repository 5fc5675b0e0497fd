"""What is said once in a run, however often there is reason to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_said: list[set[str]] = [set()]


def is_first(what: str) -> bool:
    """Whether this run has not come across `what` before; from now on it has."""
    if what in _said[-1]:
        return False
    _said[-1].add(what)
    return True


@contextmanager
def forgetting() -> Iterator[None]:
    """Starts a run, in which nothing has been said yet."""
    _said.append(set())
    try:
        yield
    finally:
        _said.pop()
