"""A mutant: a file with one edit, and the lines that it changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.mutations import Edit, edits


@dataclass(frozen=True)
class Mutant:
    """A file with one edit.

    `before` and `after` are the lines of the edit without indentation. Several mutants of a file with the
    same lines are numbered by `occurrence`, so the name of a mutant does not depend on the rest of the file.
    """

    path: str
    edit: Edit
    first_line: int
    last_line: int
    before: str
    after: str
    occurrence: int

    @property
    def name(self) -> str:
        return f"{self.path}\n{self.before}\n{self.after}\n{self.occurrence}"

    def applied(self, content: bytes) -> bytes:
        """The content of the file after the edit."""
        return content[: self.edit.start] + self.edit.text.encode() + content[self.edit.end :]

    def diff(self) -> str:
        """The changed lines, as a diff."""
        removed = [f"-    {line}" for line in self.before.split("\n")]
        added = [f"+    {line}" for line in self.after.split("\n")]
        return "\n".join([f"{self.path}:{self.first_line}", *removed, *added])


def mutants_of(path: str, root: Path) -> Iterator[Mutant]:
    """All mutants of a file, in the order of its syntax tree."""
    content = (root / path).read_bytes()
    occurrences: Counter[tuple[str, str]] = Counter()
    for edit in edits(content):
        start = content.rfind(b"\n", 0, edit.start) + 1
        end = content.find(b"\n", edit.end)
        mutated = content[start : edit.start] + edit.text.encode() + content[edit.end : end]
        before, after = (_dedented(lines.decode()) for lines in (content[start:end], mutated))
        first = content.count(b"\n", 0, start) + 1
        last = first + content.count(b"\n", start, end)
        occurrences[before, after] += 1
        yield Mutant(path, edit, first, last, before, after, occurrences[before, after])


def _dedented(lines: str) -> str:
    """The lines without the indentation of the first one."""
    first, *rest = lines.split("\n")
    indentation = first[: len(first) - len(first.lstrip())]
    return "\n".join([first.lstrip(), *(line.removeprefix(indentation) for line in rest)])
