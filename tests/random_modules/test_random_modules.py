"""Passes and pipelines on a few random modules of each kind."""

import sys
from collections.abc import Iterator

import pytest

from tests.random_modules.compare import KINDS, Reference, compare, reference, run_here

SEEDS, REFERENCE_SEEDS = range(8), range(40)


@pytest.fixture(scope="module")
def running() -> Iterator[Reference]:
    with reference(sys.executable) as started:
        yield started


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_modules_are_deterministic_and_valid(seed: int, kind: str) -> None:
    make = KINDS[kind].make
    text = make(seed)
    assert text == make(seed)
    result = run_here(text, "builtin.module()")
    assert result.output
    assert not result.messages


@pytest.mark.reference
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", REFERENCE_SEEDS)
def test_results_equal_those_of_the_reference(seed: int, kind: str, running: Reference) -> None:
    for comparison in compare(seed, KINDS[kind].pipelines, running, KINDS[kind].make):
        assert not comparison.is_different, str(comparison)
