"""Passes and pipelines on a few random modules of each kind."""

import sys
from collections.abc import Iterator

import pytest

from tests.random_modules.compare import KINDS, Reference, compare, reference, run_here

HERE_ALONE, WITH_REFERENCE = range(8), range(40)


@pytest.fixture(scope="module")
def running() -> Iterator[Reference]:
    with reference(sys.executable) as started:
        yield started


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", HERE_ALONE)
def test_modules_are_the_same_and_valid(seed: int, kind: str) -> None:
    make = KINDS[kind].make
    text = make(seed)
    assert text == make(seed)
    ending = run_here(text, "builtin.module()")
    assert ending.output
    assert not ending.messages


@pytest.mark.reference
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", WITH_REFERENCE)
def test_nothing_differs(seed: int, kind: str, running: Reference) -> None:
    for comparison in compare(seed, KINDS[kind].pipelines, running, KINDS[kind].make):
        assert not comparison.is_different, str(comparison)
