"""Suggestions: the name that was meant, or the names that there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sdyopt.diagnostics.usage import closest

# A longer list of names is shortened to this number.
MAX_LISTED = 8


def backticked(name: str) -> str:
    """A name as it is written in help."""
    return f"`{name}`"


def did_you_mean(name: str, names: Iterable[str], show: Callable[[str], str] = backticked) -> str:
    """``did you mean `x`?`` for the most similar name; empty if none is similar."""
    match = closest(name, [other for other in names if other != name])
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
