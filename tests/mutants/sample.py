"""Selects mutants: the same ones for the same seed, whatever else changes in their files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import islice, zip_longest
from pathlib import Path

from tests.mutants.mutant import Mutant, mutants_of
from tests.mutants.targets import files_of


def select(groups: Mapping[str, Sequence[str]], root: Path, seed: int, count: int) -> list[Mutant]:
    """Mutants of the files of each group in turn, in an order that depends on the seed and their names."""
    shuffled = [_shuffled(files_of(patterns, root), root, seed) for patterns in groups.values()]
    return list(islice(_in_turn(shuffled), count))


def _shuffled(paths: Sequence[str], root: Path, seed: int) -> list[Mutant]:
    mutants = [mutant for path in paths for mutant in mutants_of(path, root)]
    return sorted(mutants, key=lambda mutant: sha256(f"{seed}\n{mutant.name}".encode()).digest())


def _in_turn(lists: Sequence[Sequence[Mutant]]) -> Iterator[Mutant]:
    for each in zip_longest(*lists):
        yield from (mutant for mutant in each if mutant is not None)
