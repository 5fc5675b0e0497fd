"""Mutants that no test can kill because they compute the same, with the reason: the table equivalent.toml.

The key of a mutant is its file, its lines before and after the edit, and its number among mutants of the file
with the same lines.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.mutants.mutant import Mutant, mutants_of

TABLE = Path(__file__).with_name("equivalent.toml")


@dataclass(frozen=True)
class Equivalence:
    """Why mutants with these lines compute the same."""

    path: str
    before: str
    after: str
    reason: str
    occurrence: int = 1

    def covers(self, mutant: Mutant) -> bool:
        found = (mutant.path, mutant.before, mutant.after, mutant.occurrence)
        return found == (self.path, self.before, self.after, self.occurrence)


def read_table(path: Path = TABLE) -> list[Equivalence]:
    """The entries of the table."""
    entries: list[dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8")).get("mutant", [])
    return [Equivalence(**entry) for entry in entries]


def stale_entries(table: list[Equivalence], root: Path) -> list[Equivalence]:
    """The entries whose line is not in the code any more; they must be looked at again."""
    mutants = {path: list(mutants_of(path, root)) for path in {entry.path for entry in table}}
    return [entry for entry in table if not any(map(entry.covers, mutants[entry.path]))]


def reason_of(mutant: Mutant, table: list[Equivalence]) -> str:
    """Why the mutant computes the same as the original; empty if the table does not say so."""
    return next((entry.reason for entry in table if entry.covers(mutant)), "")
