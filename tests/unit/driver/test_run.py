"""Jobs as a library runs them: nothing is read or written but through the job's own functions."""

from __future__ import annotations

import gc
import sys
from dataclasses import dataclass, field
from typing import Any

import pytest

from sdyopt.driver.job import Job, Outcome
from sdyopt.driver.run import run_job
from sdyopt.ir.operation import Op
from sdyopt.pipeline import Pass, Pipeline

FUNCTION = b"func.func @main() {\n  return\n}\n"
PRINTED = "module {\n  func.func @main() {\n    return\n  }\n}\n\n"


@dataclass
class World:
    """What a job says and which files it makes."""

    said: str = ""
    files: dict[str, str] = field(default_factory=dict)

    def run(self, data: bytes, *passes: Pass, **settings: Any) -> Outcome:
        job = Job(
            "in", data, Pipeline(elements=list(passes)), self._report, self.files.__setitem__, **settings
        )
        return run_job(job)

    def _report(self, text: str) -> None:
        self.said += text


@pytest.fixture
def world() -> World:
    return World()


@dataclass(frozen=True, eq=False)
class Raise(Pass):
    """Raises what it is told to."""

    flag = "raise"
    problem: Exception = field(default_factory=RecursionError)

    def run(self, op: Op) -> bool:
        raise self.problem


@dataclass(frozen=True, eq=False)
class Complain(Pass):
    """Fails with an error at the operation."""

    flag = "complain"

    def run(self, op: Op) -> bool:
        raise op.op_error("is not good enough")


def test_text_in_text_out(world: World) -> None:
    assert world.run(FUNCTION) == Outcome(True, PRINTED)
    assert world == World()


def test_the_interpreter_is_left_as_it_was(world: World) -> None:
    before = gc.isenabled(), sys.getrecursionlimit()
    world.run(FUNCTION)
    assert (gc.isenabled(), sys.getrecursionlimit()) == before


def test_errors_show_the_operation_unless_they_are_not_to(world: World) -> None:
    assert world.run(b"module {}", Complain()) == Outcome(False, "")
    assert world.said == (
        "in:1:1: error: 'builtin.module' op is not good enough\nmodule {}\n^\n"
        'in:1:1: note: see current operation: \n"builtin.module"() ({\n^bb0:\n}) : () -> ()\n'
    )
    world.said = ""
    world.run(b"module {}", Complain(), print_op_on_diagnostic=False)
    assert "see current" not in world.said


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (RecursionError(), "in:1:1: error: the program is nested too deeply\n"),
        (MemoryError(), "in:1:1: error: out of memory\n"),
    ],
)
def test_what_is_too_much_is_an_error(problem: Exception, message: str, world: World) -> None:
    assert world.run(FUNCTION, Raise(problem=problem)) == Outcome(False, "")
    assert world.said.startswith(message)


def test_a_failure_leaves_a_reproducer(world: World) -> None:
    assert not world.run(FUNCTION, Complain(), crash_reproducer="there").succeeded
    assert "Pipeline failed while executing [`ComplainPass` on 'builtin.module' operation]" in world.said
    assert 'pipeline: "builtin.module(complain)"' in world.files["there"]
    assert "func.func @main" in world.files["there"]


def test_our_own_faults_leave_a_reproducer_too(world: World) -> None:
    with pytest.raises(ZeroDivisionError):
        world.run(FUNCTION, Raise(problem=ZeroDivisionError()), crash_reproducer="there")
    assert "func.func @main" in world.files["there"]


def test_a_success_leaves_none(world: World) -> None:
    assert world.run(FUNCTION, crash_reproducer="there").succeeded
    assert not world.files


def test_reproducers_with_unknown_passes(world: World) -> None:
    text = (
        b'module {}\n{-# external_resources: { mlir_reproducer: { pipeline: "builtin.module(no-such)" } } #-}'
    )
    assert world.run(text).succeeded
    assert not world.run(text, run_reproducer=True).succeeded
    assert "'no-such' does not refer to a registered pass or pass pipeline" in world.said


def test_what_counts_when_diagnostics_are_verified(world: World) -> None:
    expected = b"// expected-error @+1 {{is not good enough}}\nmodule {}"
    assert world.run(expected, Complain(), verify_diagnostics="all").succeeded
    assert not world.run(expected, verify_diagnostics="all").succeeded
    assert world.run(b"module {}", Complain(), verify_diagnostics="only-expected").succeeded
