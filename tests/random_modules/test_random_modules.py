"""Passes and pipelines on a few random modules of each kind."""

import os
import sys
from collections.abc import Iterator

import pytest

from tests.random_modules import partitioned
from tests.random_modules.compare import KINDS, PipelineResult, Reference, compare, reference, run_here
from tests.random_modules.partitioned import Partitioned, partition
from tests.random_modules.partitioners import with_cpp

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


# A local program of C++: its shardings are attributes of the module, with inlined meshes.
LOCAL = """module attributes {\
sdy.output_shardings = #sdy.sharding_per_value<[<mesh<["x"=2]>, [{"x"}]>]>, \
sdy.parameters_shardings = #sdy.sharding_per_value<[<mesh<["x"=2]>, [{}]>]>} {
  func.func @main(%arg0: tensor<8xf32>) -> tensor<4xf32> {
    %0 = stablehlo.slice %arg0 [0:4] : (tensor<8xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}"""


def test_a_local_program_of_cpp_gets_its_shardings() -> None:
    local = with_cpp(PipelineResult(LOCAL, ()), 2).local
    assert local is not None
    [mesh] = local.meshes
    assert mesh == "devices_of_program"
    assert '%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{}]>}' in str(local)
    assert '(tensor<4xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}]>})' in str(local)


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (None, "crash"),
        (PipelineResult("", ("1:2: error: no lowering of 'x'",)), "error: no lowering of …"),
        (PipelineResult("module {", ()), "invalid program: expected operation name in quotes"),
    ],
)
def test_why_cpp_does_not_partition(result: PipelineResult | None, reason: str) -> None:
    assert with_cpp(result, 2).reason == reason


@pytest.mark.reference
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", REFERENCE_SEEDS)
def test_results_equal_those_of_the_reference(seed: int, kind: str, running: Reference) -> None:
    for comparison in compare(seed, KINDS[kind].pipelines, running, KINDS[kind].make):
        assert not comparison.is_different, str(comparison)
