"""`sdy-reshard-to-collectives` on a few random reshards."""

import sys
from collections.abc import Iterator

import pytest

from tests.random_modules.compare import Reference, reference, run_here
from tests.random_reshards.cases import module_text, random_reshard
from tests.random_reshards.compare import PIPELINE, compare_all

HERE_ALONE, WITH_REFERENCE = range(100), range(1000)


@pytest.fixture(scope="module")
def running() -> Iterator[Reference]:
    with reference(sys.executable) as started:
        yield started


def test_reshards_are_deterministic_and_valid() -> None:
    texts = [module_text(map(random_reshard, HERE_ALONE)) for _ in range(2)]
    assert texts[0] == texts[1]
    result = run_here(texts[0], "builtin.module()")
    assert result.output
    assert not result.messages


@pytest.mark.reference
def test_collectives_are_those_of_the_reference(running: Reference) -> None:
    reshards = [random_reshard(seed) for seed in WITH_REFERENCE]
    comparable = [each for each in reshards if not each.has_clashing_sub_axes]
    for comparison in compare_all(comparable, PIPELINE, running):
        assert not comparison.is_different, str(comparison)
