"""Limits on nesting and copying by passes that inline calls, in programs too large for lit tests."""

from __future__ import annotations

import pytest

from passes.common import inline
from passes.common.inline import Inliner, inline_call
from passes.common.support.call_graph import MAX_NESTING_DEPTH
from passes.importing.import_func_calls import ImportFuncCalls
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import Pass, Pipeline, Unsigned
from sdyopt.tools.driver.job import Job
from sdyopt.tools.driver.run import run_job


def chain(length: int, calls: int = 1) -> bytes:
    """A chain of `length` functions that each call the next one `calls` times; the last callee calls none."""
    functions = []
    for index in range(length):
        body = f"call @f{index + 1}() : () -> () " * calls
        functions.append(f"func.func @f{index}() {{ {body} return }}")
    effect = "stablehlo.custom_call @effect() {has_side_effect = true} : () -> ()"
    functions.append(f"func.func @f{length}() {{ {effect} return }}")
    return "\n".join(functions).encode()


def run(program: bytes, single: Pass) -> tuple[bool, str]:
    """Whether a pass succeeds on a program, and its diagnostics."""
    diagnostics: list[str] = []
    outcome = run_job(Job("in", lambda: program, Pipeline(elements=[single]), diagnostics.append))
    return outcome.succeeded, "".join(diagnostics)


def test_calls_nested_to_the_limit() -> None:
    assert run(chain(MAX_NESTING_DEPTH), ImportFuncCalls()) == (True, "")


def test_calls_nested_deeper_than_the_limit() -> None:
    succeeded, diagnostics = run(chain(MAX_NESTING_DEPTH + 1), ImportFuncCalls())
    assert not succeeded
    assert f"regions would nest deeper than {MAX_NESTING_DEPTH}" in diagnostics
    assert diagnostics.startswith("in:")


def test_exponential_inlining_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inline, "most_copied_operations", lambda graph: 1000)
    succeeded, diagnostics = run(chain(20, calls=2), Inliner())
    assert not succeeded
    assert "'func.call' op cannot inline 'f" in diagnostics
    assert "would exceed 1000 operations" in diagnostics
    assert diagnostics.startswith("in:")


def test_a_threshold_is_not_predicted_but_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inline, "most_copied_operations", lambda graph: 1000)
    succeeded, diagnostics = run(chain(12, calls=2), Inliner(inlining_threshold=Unsigned(100_000)))
    assert not succeeded
    assert "would exceed 1000 operations" in diagnostics


def test_growth_is_estimated_whenever_the_copies_have_doubled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inline, "_FIRST_ESTIMATE_AT", 4)
    estimates: list[FuncOp] = []
    monkeypatch.setattr(inline._Inlining, "_estimate_growth", lambda _, caller: estimates.append(caller))
    assert run(chain(9, calls=2), Inliner()) == (True, "")
    # Some 2,000 operations are copied, of which 4 are the first.
    assert 7 <= len(estimates) <= 10


def test_exponential_inlining_is_predicted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inline, "_FIRST_ESTIMATE_AT", 100)
    inlined: list[CallOp] = []

    def counting(call: CallOp, callee: FuncOp, rewriter: Rewriter, move_body: bool) -> list[CallOp]:
        inlined.append(call)
        return inline_call(call, callee, rewriter, move_body)

    monkeypatch.setattr(inline, "inline_call", counting)
    succeeded, diagnostics = run(chain(30, calls=2), Inliner())
    assert not succeeded
    # The error is at the call that would exceed the limit, before most calls are inlined.
    assert diagnostics.startswith("in:15:20: error: 'func.call' op cannot inline 'f15'")
    # Passes that fail run twice, see `run_and_verify`.
    assert len(inlined) < 2 * 20
