"""The error of a lit test that cannot run."""

from __future__ import annotations

from sdyopt.base.diagnostics.text import printable


class MalformedCaseError(Exception):
    """Invalid directives or commands in a lit test, with help and a line number.

    The line is 0 if the error concerns the whole file, or if it is not known yet.
    """

    def __init__(self, message: str, help: str = "", line: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.help = help
        self.line = line

    def report(self, path: str) -> str:
        """The error as it is shown."""
        location = f"{path}:{self.line}" if self.line else path
        help = f"\nhelp: {self.help}" if self.help else ""
        return printable(f"{location}: error: {self.message}{help}")
