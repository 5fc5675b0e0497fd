"""Results on random modules are those that the C++ passes gave when `recorded.json` was written."""

import pytest

from sdyopt.base.releases import following
from tests.random_modules.recorded import RANDOM_RESHARDS, SEEDS, checksums_here, read_tables

TABLES = read_tables()
# One test per module and pipeline would be many; one per seed runs in parallel, and says where to look.
CASES = sorted(
    {
        (release, kind, name.split()[0])
        for release in TABLES
        for kind in SEEDS
        for name in TABLES[release][kind]
    }
)


@pytest.mark.parametrize(("release", "kind", "seed"), CASES)
def test_results_are_those_of_the_reference(release: str, kind: str, seed: str) -> None:
    """`python -m tests.random_modules.compare --kind KIND --seeds FROM:TO` shows a difference."""
    table = TABLES[release][kind]
    expected = {name: value for name, value in table.items() if name.split()[0] == seed}
    with following(release):
        assert checksums_here(kind, expected) == expected


@pytest.mark.parametrize("release", TABLES)
def test_collectives_of_random_reshards_are_those_of_the_reference(release: str) -> None:
    """`python -m tests.random_reshards.compare --seeds FROM:TO` shows a difference."""
    table = TABLES[release][RANDOM_RESHARDS]
    with following(release):
        assert checksums_here(RANDOM_RESHARDS, table) == table


@pytest.mark.parametrize("release", TABLES)
def test_every_kind_is_recorded(release: str) -> None:
    assert all(len(TABLES[release][kind]) > len(SEEDS[kind]) for kind in SEEDS)
