"""Trials in processes that do not fork, as the Python interface runs them."""

import os
import pickle
import signal
from fractions import Fraction
from types import SimpleNamespace
from typing import cast

import pytest

import sdyopt
from sdyopt.analysis.changes.edits import AnnotationEdit, Change
from sdyopt.analysis.changes.processes import TrialProcesses
from sdyopt.analysis.changes.search import Search
from sdyopt.analysis.changes.trial import Trial
from sdyopt.analysis.changes.trials import Trials, trials_on
from sdyopt.analysis.figures.assumed_pipeline import pipeline_of
from sdyopt.analysis.figures.machines import MACHINES
from sdyopt.analysis.figures.topology import read_topology
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding

PROGRAM = """
sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(
    %x: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
    %w1: tensor<32x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}]>},
    %w2: tensor<128x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> tensor<64x32xf32> {
  %0 = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0]
      : (tensor<64x32xf32>, tensor<32x128xf32>) -> tensor<64x128xf32>
  %1 = stablehlo.tanh %0 : tensor<64x128xf32>
  %2 = stablehlo.dot_general %1, %w2, contracting_dims = [1] x [0]
      : (tensor<64x128xf32>, tensor<128x32xf32>) -> tensor<64x32xf32>
  return %2 : tensor<64x32xf32>
}
"""


def forbidden(*_: object) -> None:
    raise AssertionError


def test_python_does_not_fork_and_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    module = sdyopt.parse(PROGRAM)
    alone = module.advise(jobs=1)
    monkeypatch.setattr(os, "fork", forbidden)
    monkeypatch.setattr("sdyopt.analysis.changes.trials._MIN_SHARED", 1)
    with monkeypatch.context() as patch:
        # All trials are in the processes, but one alone.
        patch.setattr(Trials, "_trial", forbidden)
        patch.setattr("sdyopt.analysis.changes.search.Search.together", None)
        together = module.advise(jobs=2)
    assert [(each.text, each.after) for each in together.changes] == [
        (each.text, each.after) for each in alone.changes
    ]
    assert alone.changes


def test_trials_run_here_if_there_are_no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    module = sdyopt.parse(PROGRAM)
    text = str(module.advise(jobs=1))
    monkeypatch.setattr("sdyopt.analysis.changes.trials._MIN_SHARED", 1)
    # They end at once.
    monkeypatch.setattr("sdyopt.analysis.changes.processes._MODULE", "sys")
    assert str(module.advise(jobs=2)) == text
    monkeypatch.setattr("sys.executable", "/no/such/python")
    assert str(module.advise(jobs=2)) == text


@pytest.mark.parametrize(
    ("count", "size", "jobs", "expected"),
    [
        # Each process has 3,000 operations at least, and a change.
        (3, 6000, 2, "2 fork"),
        (3, 6000, 4, "3 fork"),
        (3, 2000, 4, "2 fork"),
        (3, 1999, 4, "here"),
        (3, 6000, 1, "here"),
        (1, 6000, 2, "here"),
    ],
)
def test_as_many_processes_as_have_enough_to_do(count: int, size: int, jobs: int, expected: str) -> None:
    stub = SimpleNamespace(
        _size=size,
        _may_fork=True,
        _forked=lambda changes, jobs, _: [f"{jobs} fork"] * len(changes),
        _trial=lambda *_: "here",
    )
    trials = [*map(str, Trials._in_full(cast(Trials, stub), [Change()] * count, jobs, None))]
    assert trials == [expected] * count


def test_a_process_tries_what_edits_can_say() -> None:
    """Another change is tried here, as is one without an answer."""

    def rewrite(*_: object) -> None:
        raise AssertionError

    changes = [Change(), Change(), Change(rewrite=rewrite), Change(passes={"cse": {}})]
    answers = ["answer", None, "answer", "answer"]
    stub = SimpleNamespace(
        _size=3000,
        _may_fork=False,
        made=(),
        _processes=SimpleNamespace(answers=lambda *_: answers),
        _answered=lambda _, answer: answer,
        _trial=lambda *_: "here",
    )
    trials = [*map(str, Trials._in_full(cast(Trials, stub), changes, 2, None))]
    assert trials == ["answer", "here", "here", "here"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")
def test_trials_run_here_if_a_forked_process_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline = pipeline_of({"sdy-propagation-pipeline": {}})
    alone = Search(trials_on(sdyopt.parse(PROGRAM).ir, pipeline), jobs=1)
    together = Search(trials_on(sdyopt.parse(PROGRAM).ir, pipeline), jobs=2)
    monkeypatch.setattr("sdyopt.analysis.changes.trials._MIN_SHARED", 1)
    original, here = Trials._trial, os.getpid()

    def trial(self: Trials, change: Change, limit: Fraction | None) -> Trial:
        # As the system ends one of them when there is no memory.
        if os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return original(self, change, limit)

    monkeypatch.setattr(Trials, "_trial", trial)
    assert [each.after for each in together.ranked] == [each.after for each in alone.ranked]


def test_processes_end_with_their_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    module = sdyopt.parse(PROGRAM)
    kept: list[TrialProcesses] = []
    original = TrialProcesses.__init__

    def init(self: TrialProcesses, *arguments: object) -> None:
        original(self, *arguments)  # type: ignore[arg-type]
        kept.append(self)

    monkeypatch.setattr("sdyopt.analysis.changes.trials._MIN_SHARED", 1)
    monkeypatch.setattr(TrialProcesses, "__init__", init)
    module.advise(jobs=2)
    processes = kept[0]._processes
    assert [process.poll() for process in processes] == [None, None]
    kept.clear()
    assert all(process.poll() is not None for process in processes)


def test_a_topology_is_the_same_after_pickling() -> None:
    topology = read_topology("tpu-v5e", MACHINES["tpu-v5e"])
    assert pickle.loads(pickle.dumps(topology)) == topology


def test_a_location_that_is_read_later_is_no_error() -> None:
    module = sdyopt.parse(PROGRAM).ir
    search = Search(Trials(module, pipeline_of({"sdy-propagation-pipeline": {}})))
    [tanh] = [op for op in module.walk() if op.signature.name == "stablehlo.tanh"]
    mesh = next(op.mesh for op in module.walk() if isinstance(op, MeshOp))
    # The offset in the text becomes a line.
    assert tanh.location is not None
    result = tanh.results[0]
    edit = AnnotationEdit(result, TensorSharding(mesh, (DimensionSharding(),) * 2), mesh)
    assert search.program.alike(edit).edits == (edit,)
