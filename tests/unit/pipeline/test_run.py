"""Running pipelines: order, anchors, failures, verification, instruments."""

from __future__ import annotations

from typing import Any, cast

import pytest

from sdyopt.base.diagnostics import Diagnostic, Severity, emit, handling
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.pipeline import Instrument, Pass, Pipeline, parse_pipeline, run_pipeline
from tests.unit.pipeline import fakes
from tests.unit.pipeline.fakes import FakeOp, Logging, lookup


def module() -> Op:
    """A module of two functions and another operation."""
    functions = (FakeOp("func.func", symbol="@a"), FakeOp("func.func", symbol="@b"))
    return cast(Op, FakeOp("builtin.module", (*functions, FakeOp("sdy.mesh"))))


def run(pipeline: Pipeline, **more: Any) -> tuple[bool, list[str]]:
    """Whether a pipeline succeeded, and the diagnostics."""
    fakes.LOG.clear()
    messages: list[Diagnostic] = []
    with handling(messages.append):
        succeeded = run_pipeline(pipeline, module(), **more)
    return succeeded, [f"{each.severity}: {each.message}" for each in messages]


def pipeline_of(*elements: Pass | Pipeline) -> Pipeline:
    return Pipeline(elements=list(elements))


def test_adjacent_pipelines_run_together_on_each_function() -> None:
    text = "builtin.module(on-module,func.func(on-function),func.func(on-any),on-any)"
    assert run(parse_pipeline(text, lookup)) == (True, [])
    assert fakes.LOG == [
        "on-module builtin.module",
        "on-function func.func@a",
        "on-any func.func@a",
        "on-function func.func@b",
        "on-any func.func@b",
        "on-any builtin.module",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("func.func(on-any)", "error: can't run 'func.func' pass manager on 'builtin.module' op"),
        (
            "any(on-function)",
            "error: 'builtin.module' op trying to schedule a pass on an unsupported operation",
        ),
    ],
)
def test_pipelines_with_another_anchor_are_errors(text: str, message: str) -> None:
    assert run(parse_pipeline(text, lookup)) == (False, [message])


@pytest.mark.parametrize(
    ("text", "help"),
    [
        ("func.func(on-any)", "write builtin.module(func.func(on-any))"),
        ("builtin.modul(on-any)", "did you mean 'builtin.module'?"),
        ("module(on-any)", "did you mean 'builtin.module'?"),
    ],
)
def test_help_for_pipelines_with_another_anchor(text: str, help: str) -> None:
    seen: list[Diagnostic] = []
    with handling(seen.append):
        assert not run_pipeline(parse_pipeline(text, lookup), cast(Op, FakeOp("builtin.module")))
    assert [diagnostic.help for diagnostic in seen] == [help]


def test_passes_run_on_isolated_operations_only() -> None:
    pipeline = parse_pipeline("not.isolated(on-any)", lookup)
    messages: list[Diagnostic] = []
    with handling(messages.append):
        assert not run_pipeline(pipeline, cast(Op, FakeOp("not.isolated")))
    assert "not marked as 'IsolatedFromAbove'" in messages[0].message


class Raises(Logging):
    """Raises an error."""

    def run(self, op: Any) -> bool:
        raise op.error("raised")


class Emits(Logging):
    """Emits errors and continues."""

    def run(self, op: Any) -> bool:
        for severity in (Severity.ERROR, Severity.WARNING):
            emit(Diagnostic(severity, op.location, "emitted"))
        return True


class Changes(Logging):
    """Returns that it changed something."""

    def run(self, op: Any) -> bool:
        super().run(op)
        return True


def test_a_pass_fails_by_raising_or_by_emitting_an_error() -> None:
    assert run(pipeline_of(Raises(), Logging())) == (False, ["error: raised"])
    assert run(pipeline_of(Emits(), Logging())) == (False, ["error: emitted", "warning: emitted"])
    assert fakes.LOG == []


class Rejecting:
    """A verifier that finds everything invalid, and records its calls."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def verify(self, op: Op) -> bool:
        self.calls.append(op.signature.name)
        return False

    def verify_regions(self, op: Op) -> bool:
        self.calls.append(f"regions of {op.signature.name}")
        return False

    def is_valid(self, op: Op) -> bool:
        return self.verify(op)


def test_a_pass_is_verified_before_the_next_one_runs() -> None:
    rejecting = Rejecting()
    assert not run(pipeline_of(Changes(), Logging()), verify=rejecting)[0]
    assert rejecting.calls == ["builtin.module"]
    assert len(fakes.LOG) == 1


def test_the_parent_is_verified_after_a_nested_pipeline() -> None:
    class AllowingEdits(Rejecting):
        def verify(self, op: Op) -> bool:
            return True

    class ChangesFunctions(Changes):
        anchor = "func.func"

    rejecting = AllowingEdits()
    pipeline = pipeline_of(Pipeline("func.func", [ChangesFunctions()]), Logging())
    assert not run(pipeline, verify=rejecting)[0]
    assert len(fakes.LOG) == 2
    assert rejecting.calls == ["regions of builtin.module"]


class Watcher(Instrument):
    """Records its callbacks."""

    def __init__(self, name: str, log: list[str]) -> None:
        self.name, self.log = name, log

    def before_pass(self, pass_: Pass, op: Op) -> None:
        self.log.append(f"{self.name} before {type(pass_).__name__}")

    def after_pass(self, pass_: Pass, op: Op, changed: bool) -> None:
        self.log.append(f"{self.name} after {type(pass_).__name__} {changed}")

    def after_pass_failed(self, pass_: Pass, op: Op) -> None:
        self.log.append(f"{self.name} failed {type(pass_).__name__}")


def test_instruments_are_nested() -> None:
    log: list[str] = []
    watchers = [Watcher("outer", log), Watcher("inner", log)]
    run(pipeline_of(Changes(), Raises()), instruments=watchers)
    assert log == [
        "outer before Changes",
        "inner before Changes",
        "inner after Changes True",
        "outer after Changes True",
        "outer before Raises",
        "inner before Raises",
        "inner failed Raises",
        "outer failed Raises",
    ]


def test_statistics_are_counted_per_pass() -> None:
    first, second = fakes.Counting(), fakes.Counting(limit=1)
    assert run(pipeline_of(first, first, second))[0]
    assert (first.counted(first.seen), second.counted(second.seen)) == (2, 1)
    assert fakes.Counting.statistics() == (fakes.Counting.seen,)
