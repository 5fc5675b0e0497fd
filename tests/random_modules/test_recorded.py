"""Results on random modules are those that the C++ passes gave when `recorded.json` was written."""

import pytest

from tests.random_modules.recorded import RANDOM_RESHARDS, SEEDS, checksums_here, read_table

TABLE = read_table()
# One test per module and pipeline would be many; one per seed runs in parallel, and says where to look.
CASES = sorted({(kind, name.split()[0]) for kind in SEEDS for name in TABLE[kind]})


@pytest.mark.parametrize(("kind", "seed"), CASES)
def test_results_are_those_of_the_reference(kind: str, seed: str) -> None:
    """`python -m tests.random_modules.compare --kind KIND --seeds FROM:TO` shows a difference."""
    expected = {name: value for name, value in TABLE[kind].items() if name.split()[0] == seed}
    assert checksums_here(kind, expected) == expected


def test_collectives_of_random_reshards_are_those_of_the_reference() -> None:
    """`python -m tests.random_reshards.compare --seeds FROM:TO` shows a difference."""
    assert checksums_here(RANDOM_RESHARDS, TABLE[RANDOM_RESHARDS]) == TABLE[RANDOM_RESHARDS]


def test_every_kind_is_recorded() -> None:
    assert all(len(TABLE[kind]) > len(SEEDS[kind]) for kind in SEEDS)
