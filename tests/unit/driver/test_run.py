"""Jobs: diagnostics and files are written by the functions that the job is given."""

from __future__ import annotations

import gc
import sys
from dataclasses import dataclass, field
from typing import Any

import pytest

from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.pipeline import Pass, Pipeline
from sdyopt.tools.driver.job import Job, JobOutcome
from sdyopt.tools.driver.run import run_job

FUNCTION = b"func.func @main() {\n  return\n}\n"
PRINTED = "module {\n  func.func @main() {\n    return\n  }\n}\n\n"


@dataclass
class Recorder:
    """Records the reports and the files of a job."""

    log: str = ""
    files: dict[str, str] = field(default_factory=dict)

    def run(self, data: bytes, *passes: Pass, **settings: Any) -> JobOutcome:
        job = Job(
            "in",
            lambda: data,
            Pipeline(elements=list(passes)),
            self._report,
            self.files.__setitem__,
            **settings,
        )
        return run_job(job)

    def _report(self, text: str) -> None:
        self.log += text


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


class Raise(Pass):
    """Raises a given exception."""

    flag = "raise"
    problem: Exception = RecursionError()

    def run(self, op: Op) -> bool:
        raise self.problem


class Complain(Pass):
    """Fails with an error at the operation."""

    flag = "complain"

    def run(self, op: Op) -> bool:
        raise op.op_error("is not good enough")


def test_a_run_without_passes_prints_the_program_and_nothing_else(recorder: Recorder) -> None:
    outcome = recorder.run(FUNCTION)
    assert (outcome.succeeded, outcome.output, outcome.reports) == (True, PRINTED, "")
    assert recorder == Recorder()


def test_interpreter_settings_are_restored(recorder: Recorder) -> None:
    before = gc.isenabled(), sys.getrecursionlimit()
    recorder.run(FUNCTION)
    assert (gc.isenabled(), sys.getrecursionlimit()) == before


def test_a_note_has_the_operation_unless_turned_off(recorder: Recorder) -> None:
    assert recorder.run(b"module {}", Complain()) == JobOutcome(False, ())
    assert recorder.log == (
        "in:1:1: error: 'builtin.module' op is not good enough\nmodule {}\n^~~~~~\n"
        'in:1:1: note: see current operation: \n"builtin.module"() ({\n^bb0:\n}) : () -> ()\n'
    )
    recorder.log = ""
    recorder.run(b"module {}", Complain(), print_op_on_diagnostic=False)
    assert "see current" not in recorder.log


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (RecursionError(), "in:1:1: error: the program is nested too deeply\n"),
        (MemoryError(), "in:1:1: error: out of memory\n"),
    ],
)
def test_exceeded_resources_are_an_error(problem: Exception, message: str, recorder: Recorder) -> None:
    assert recorder.run(FUNCTION, Raise(problem=problem)) == JobOutcome(False, ())
    assert recorder.log.startswith(message)


def test_a_failing_pass_writes_a_reproducer(recorder: Recorder) -> None:
    assert not recorder.run(FUNCTION, Complain(), crash_reproducer="there").succeeded
    assert "Pipeline failed while executing [`ComplainPass` on 'builtin.module' operation]" in recorder.log
    assert 'pipeline: "builtin.module(complain)"' in recorder.files["there"]
    assert "func.func @main" in recorder.files["there"]


def test_an_internal_error_writes_a_reproducer(recorder: Recorder) -> None:
    with pytest.raises(ZeroDivisionError):
        recorder.run(FUNCTION, Raise(problem=ZeroDivisionError()), crash_reproducer="there")
    assert "func.func @main" in recorder.files["there"]


def test_a_successful_run_writes_no_reproducer(recorder: Recorder) -> None:
    assert recorder.run(FUNCTION, crash_reproducer="there").succeeded
    assert not recorder.files


def test_an_unknown_pass_of_a_reproducer_is_an_error_only_if_it_runs(recorder: Recorder) -> None:
    text = (
        b'module {}\n{-# external_resources: { mlir_reproducer: { pipeline: "builtin.module(no-such)" } } #-}'
    )
    assert recorder.run(text).succeeded
    assert not recorder.run(text, run_reproducer=True).succeeded
    assert "'no-such' does not refer to a registered pass or pass pipeline" in recorder.log


def test_verify_diagnostics_ignores_failures_of_passes(recorder: Recorder) -> None:
    expected = b"// expected-error @+1 {{is not good enough}}\nmodule {}"
    assert recorder.run(expected, Complain(), verify_diagnostics="all").succeeded
    assert not recorder.run(expected, verify_diagnostics="all").succeeded
    assert recorder.run(b"module {}", Complain(), verify_diagnostics="only-expected").succeeded


class Remark(Pass):
    """Emits a warning and remarks at every function."""

    flag = "remark"

    def run(self, op: Any) -> bool:
        for function in op.functions:
            function.remark("first", ("the module", op.location))
            function.warning("second", help="write something else")
            function.remark("third")
        return False


def test_remarks_and_warnings_are_shown_in_order(recorder: Recorder) -> None:
    assert recorder.run(FUNCTION, Remark(), print_op_on_diagnostic=False).succeeded
    assert recorder.log == (
        "in:1:1: remark: first\nfunc.func @main() {\n^~~~~~~~~\n"
        "in:0:0: note: the module\n"
        "in:1:1: warning: second\nfunc.func @main() {\n^~~~~~~~~\n"
        "help: write something else\n"
        "in:1:1: remark: third\nfunc.func @main() {\n^~~~~~~~~\n"
    )


def test_remarks_and_warnings_can_be_expected(recorder: Recorder) -> None:
    expectations = b"""// expected-remark @below {{first}}
// expected-warning @below {{second}}
// expected-remark @below {{third}}
"""
    settings = {"verify_diagnostics": "only-expected"}
    assert recorder.run(expectations + FUNCTION, Remark(), **settings).succeeded
    assert recorder.log == ""
    assert not recorder.run(
        expectations.replace(b"third", b"fourth") + FUNCTION, Remark(), **settings
    ).succeeded
    assert 'error: expected remark "fourth" was not produced' in recorder.log
