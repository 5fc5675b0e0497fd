"""Wrong usage: what the user asked for cannot be done, whatever the input."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

# How much of two names has to be the same. Half of most flags is: mlir-print-…, sdy-…-sharding-….
LIKE_ENOUGH = 0.65


class UsageError(Exception):
    """A request that makes no sense, with help that names the nearest one that does."""

    def __init__(self, message: str, help: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.help = help


def nearest(name: str, names: Iterable[str]) -> str:
    """`did you mean 'x'?` for the name most like the given one; empty if none is."""
    matches = get_close_matches(name, sorted(names), n=1, cutoff=LIKE_ENOUGH)
    return f"did you mean '{matches[0]}'?" if matches else ""


def nearest_or_all(name: str, names: Iterable[str]) -> str:
    """The same of a few names; all of them if none is much like the given one."""
    choices = tuple(names)
    return nearest(name, choices) or (f"choose from {', '.join(choices)}" if choices else "")
