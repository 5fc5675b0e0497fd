"""Random modules are compared with the reference, here with one that is made up."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from sdyopt.base.releases import following
from sdyopt.mlir.registry import all_passes
from tests.fuzz import compared, executed
from tests.fuzz.batch import preload
from tests.fuzz.compared import ComparedInput, ComparedModules, split_passes
from tests.fuzz.findings import Finding
from tests.fuzz.minimize import minimize
from tests.fuzz.session import Session
from tests.harness.reference import release_in
from tests.random_modules import kept_worker
from tests.random_modules.compare import Comparison, PipelineResult, run_here

PROGRAM = b"""\
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.negate %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func @g() {
  return
}
"""


@dataclass
class FakeReference:
    """Gives the results of sdy-opt, with another operation."""

    tasks: Sequence[tuple[str, Sequence[str]]] = ()
    replacement: tuple[str, str] = ("stablehlo.negate", "stablehlo.abs")
    submitted: list[str] = field(default_factory=list)

    def submit_all(self, tasks: Sequence[tuple[str, Sequence[str]]]) -> None:
        self.tasks = tasks

    def results_of_all(self) -> list[list[PipelineResult]]:
        return [[self._result(text, pipeline) for pipeline in pipelines] for text, pipelines in self.tasks]

    def _result(self, text: str, pipeline: str) -> PipelineResult:
        result = run_here(text, pipeline)
        return PipelineResult(result.output.replace(*self.replacement), result.messages)


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch) -> ComparedModules:
    monkeypatch.setattr(compared, "Reference", lambda python: FakeReference())
    monkeypatch.setattr(compared, "rerun", lambda comparison, text, python: comparison)
    return ComparedModules("python")


def test_the_passes_of_a_pipeline() -> None:
    pipeline = "canonicalize,func.func(sdy-populate-op-sharding-rules,cse),inline{max-iterations=1 a={b,c}}"
    assert split_passes(pipeline) == (
        "canonicalize",
        "func.func(sdy-populate-op-sharding-rules,cse)",
        "inline{max-iterations=1 a={b,c}}",
    )
    assert split_passes("") == ()


def test_a_different_result_is_a_problem(source: ComparedModules) -> None:
    equal, different = ComparedInput(b"func.func @g() { return }", ("cse",)), ComparedInput(PROGRAM, ("cse",))
    [first, second] = source.run([equal, different])
    assert (first.crash, first.verdict) == ("", "equal")
    assert second.verdict == "different"
    assert second.crash == "different results: stablehlo.negate; of the reference: stablehlo.abs"
    assert "-    %0 = stablehlo.abs %arg0 : tensor<2xf32>" in source.details(different).splitlines()


def test_a_difference_is_written_as_a_case(source: ComparedModules) -> None:
    input = ComparedInput(PROGRAM, ("cse", "func.func(canonicalize)"))
    lines = Finding(source.problem(input), input, details=source.details(input)).case().decode().splitlines()
    pipeline = "--pass-pipeline=builtin.module(cse,func.func(canonicalize))"
    assert lines[0] == f"// RUN: sdy-opt %s '{pipeline}' 2>&1 | FileCheck %s"
    assert lines[3] == "// CHECK: TODO"
    assert "// -    %0 = stablehlo.abs %arg0 : tensor<2xf32>" in lines


def test_a_difference_is_minimized(source: ComparedModules) -> None:
    large = ComparedInput(PROGRAM, ("cse", "canonicalize"))
    problem = source.problem(large)
    small = minimize(large, lambda input: source.problem(input) == problem)
    assert small.flags == ()
    assert b"stablehlo.negate" in small.text
    assert b"@g" not in small.text


def test_a_result_that_changes_from_run_to_run_is_none(
    source: ComparedModules, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_nondeterministic(comparison: Comparison, text: str, python: str) -> Comparison:
        return Comparison(0, "", comparison.ours, comparison.theirs, is_nondeterministic=True)

    monkeypatch.setattr(compared, "rerun", is_nondeterministic)
    [outcome] = source.run([ComparedInput(PROGRAM)])
    assert (outcome.crash, outcome.verdict) == ("", "nondeterministic reference")


@pytest.mark.reference
def test_random_modules_do_not_differ(tmp_path: Path) -> None:
    preload()
    session = Session(1, tmp_path, ("modules",), reference_python=sys.executable)
    with following(release_in(sys.executable)):
        session.run(60, batches=2)
    session.close()
    assert session.counts.total() == 100
    assert not session.findings


def test_inputs_depend_on_the_seed_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ComparedModules, "_passes", all_passes())
    batches = [ComparedModules("").batch(Random(1), 2, 4) for _ in range(2)]
    assert batches[0] == batches[1]
    assert all(input.flags for input in batches[0] if not input.text)


@pytest.mark.parametrize(
    ("verdict", "problem"),
    [
        ("equal", ""),
        ("not executed", ""),
        (
            "different",
            "wrong results on devices after sdy-partition-pipeline: result … differs",
        ),
    ],
)
def test_a_wrong_result_on_devices_is_a_problem(
    verdict: str, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = kept_worker.Outcome(0, verdict, "result 3 differs")
    monkeypatch.setattr(executed, "execute", lambda seed, text, options: outcome)
    source = executed.ExecutedModules(sys.executable)
    [input] = source.batch(Random(0), 0, 1)
    assert source.problem(input) == problem
    source.close()
