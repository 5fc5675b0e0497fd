"""Usage errors: errors in the command line or pipeline, independent of the input."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from difflib import get_close_matches

from sdyopt.diagnostics.diagnostic import Diagnostic, Severity
from sdyopt.diagnostics.ids import USAGE_ERROR
from sdyopt.diagnostics.location import UnknownLoc

# The minimum similarity of a suggested name, from 0 to 1. High, because flags share long parts: mlir-print-….
SIMILARITY = 0.65


class UsageError(Exception):
    """A usage error with help, such as a similar name.

    `diagnostic` is that of an error in the text of a pipeline, which `message` shows with its location.
    """

    def __init__(self, message: str, help: str = "", diagnostic: Diagnostic | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.help = help
        self.diagnostic = diagnostic

    def as_diagnostic(self) -> Diagnostic:
        """The error as a diagnostic, for formats other than text."""
        if self.diagnostic is not None:
            return replace(self.diagnostic, help=self.help, id=USAGE_ERROR)
        return Diagnostic(Severity.ERROR, UnknownLoc(), self.message, help=self.help, id=USAGE_ERROR)


def nearest(name: str, names: Iterable[str]) -> str:
    """`did you mean 'x'?` for the most similar name; empty if none is similar."""
    matches = get_close_matches(name, sorted(names), n=1, cutoff=SIMILARITY)
    return f"did you mean '{matches[0]}'?" if matches else ""


def nearest_or_all(name: str, names: Iterable[str]) -> str:
    """`did you mean 'x'?`, or `choose from x, y` if no name is similar. For short lists of names."""
    choices = tuple(names)
    return nearest(name, choices) or (f"choose from {', '.join(choices)}" if choices else "")
