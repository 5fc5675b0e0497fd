"""Diagnostics that are emitted at most once per run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_keys: list[set[str]] = [set()]


def is_first_occurrence(key: str) -> bool:
    """Whether this is the first call with this key in the current run."""
    if key in _keys[-1]:
        return False
    _keys[-1].add(key)
    return True


@contextmanager
def separate_run() -> Iterator[None]:
    """Makes the `with` block a run of its own."""
    _keys.append(set())
    try:
        yield
    finally:
        _keys.pop()
