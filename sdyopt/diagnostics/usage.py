"""Wrong usage: what the user asked for cannot be done, whatever the input."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class UsageError(Exception):
    """A request that makes no sense, with help that names the nearest one that does."""

    def __init__(self, message: str, help: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.help = help


def nearest(name: str, names: Iterable[str]) -> str:
    """`did you mean 'x'?` for the name most like the given one; empty if none is."""
    matches = get_close_matches(name, sorted(names), n=1, cutoff=0.6)
    return f"did you mean '{matches[0]}'?" if matches else ""
