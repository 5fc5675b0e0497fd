"""Suggestions: the name that was meant, or the names that there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sdyopt.diagnostics.usage import closest

# A list with more names is shortened to this number.
MAX_LISTED = 8
# Comparing names is slow: the maximum number of names to compare, and their maximum length.
MAX_COMPARED, MAX_LENGTH = 5_000, 100


def backticked(name: str) -> str:
    """A name as it is written in help."""
    return f"`{name}`"


def did_you_mean(name: str, names: Iterable[str], show: Callable[[str], str] = backticked) -> str:
    """``did you mean `x`?`` for the most similar name; empty if none is similar."""
    others = [other for other in names if other != name and len(other) <= MAX_LENGTH][:MAX_COMPARED]
    same = next((other for other in others if other.lower() == name.lower()), None)
    match = same or (closest(name, others) if len(name) <= MAX_LENGTH else None)
    return "" if match is None else f"did you mean {show(match)}?"


def listed(names: Iterable[str], limit: int = MAX_LISTED) -> str:
    """`a, b, c`, or `a, b, … (12 in all)` for a long list."""
    names = list(names)
    if len(names) <= limit:
        return ", ".join(names)
    return f"{', '.join(names[:limit])}, … ({len(names)} in all)"


def sentences(*parts: str) -> str:
    """The parts that are not empty, as one help text."""
    return "; ".join(part for part in parts if part).replace("?; ", "? ")


def counted(number: int, noun: str) -> str:
    """`1 value`, `2 values`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
