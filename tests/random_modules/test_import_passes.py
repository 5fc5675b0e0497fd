"""The passes that prepare a module for propagation, on a few random modules."""

import sys
from collections.abc import Iterator

import pytest

from tests.random_modules.compare import IMPORT_PASSES, Reference, compare, reference, run_here
from tests.random_modules.modules import random_module

HERE_ALONE, WITH_REFERENCE = range(8), range(40)


@pytest.fixture(scope="module")
def running() -> Iterator[Reference]:
    with reference(sys.executable) as started:
        yield started


@pytest.mark.parametrize("seed", HERE_ALONE)
def test_modules_are_the_same_and_valid(seed: int) -> None:
    text = random_module(seed)
    assert text == random_module(seed)
    ending = run_here(text, "builtin.module()")
    assert ending.output
    assert not ending.messages


@pytest.mark.reference
@pytest.mark.parametrize("seed", WITH_REFERENCE)
def test_import_passes(seed: int, running: Reference) -> None:
    for comparison in compare(seed, IMPORT_PASSES, running):
        assert not comparison.is_different, str(comparison)
