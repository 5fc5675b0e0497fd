"""Passes and pipelines on a few random modules of each kind."""

import os
import sys
from collections.abc import Iterator

import pytest

from tests.random_modules import partitioned
from tests.random_modules.compare import KINDS, PipelineResult, Reference, compare, reference, run_here
from tests.random_modules.partitioned import Partitioned, partition

SEEDS = range(8)
# How many modules of each kind are compared with the reference.
REFERENCE_SEEDS = range(int(os.environ.get("REFERENCE_SEEDS", "40")))


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


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", SEEDS[:2])
def test_modules_that_propagate_can_be_partitioned(seed: int, kind: str) -> None:
    assert partition(KINDS[kind].make(seed)).problem == ""


@pytest.mark.parametrize(
    ("local", "found"),
    [
        (
            PipelineResult("", ("1:1: warning: slow", "1:2: error: no lowering")),
            Partitioned("rejected", "error: no lowering"),
        ),
        (
            PipelineResult("", ("Traceback", "KeyError"), is_crash=True),
            Partitioned("crash", "TracebackKeyError"),
        ),
        (PipelineResult("sdy.reshard %a", ()), Partitioned("not local", "sdy.reshard")),
        (
            PipelineResult("module {", ()),
            Partitioned("does not parse again", "1:7: error: expected operation name in quotes"),
        ),
    ],
)
def test_what_is_wrong_with_a_local_program(
    local: PipelineResult, found: Partitioned, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(text: str, pipeline: str) -> PipelineResult:
        return local if "partition" in pipeline else run_here(text, "builtin.module()")

    monkeypatch.setattr(partitioned, "run_here", run)
    assert partition("module {}") == found


@pytest.mark.reference
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", REFERENCE_SEEDS)
def test_results_equal_those_of_the_reference(seed: int, kind: str, running: Reference) -> None:
    for comparison in compare(seed, KINDS[kind].pipelines, running, KINDS[kind].make):
        assert not comparison.is_different, str(comparison)
