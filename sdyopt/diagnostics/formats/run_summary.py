"""Data about the run as a whole, for all formats."""

from __future__ import annotations

import os
from collections.abc import Callable

from sdyopt.dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The input, the exit status, and how file names are shown.

    Tools that show diagnostics beside the code expect names relative to `root`, the root of the repository,
    if it is known. They show nothing for a file that does not exist, so `exists` decides which of the two
    locations of a diagnostic comes first.
    """

    version: str
    input: str
    exit_code: int
    root: str = ""
    exists: Callable[[str], bool] = os.path.exists

    def shown(self, file: str) -> str:
        """The name of a file, relative to the root of the repository if it is inside."""
        if not self.root:
            return file
        relative = os.path.relpath(file, self.root)
        return file if relative.startswith("..") else relative.replace(os.sep, "/")
