"""Reduction: what is dropped, that each step is a valid program, and what an interrupted one keeps."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import sdyopt
from sdyopt.analysis.execution.reduction.analysis import smallest

ROOT = Path(__file__).parents[3]

PROGRAM = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func private @callee(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.cosine %a : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
func.func @main(%a: tensor<8x8xf32>, %p: tensor<i1>) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>]
      manual_axes={"x"} (%b: tensor<4x8xf32>) {
    %4 = stablehlo.transpose %b, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
    %5 = stablehlo.dot %b, %4 : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    %6 = stablehlo.dot %5, %b : (tensor<4x4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    sdy.return %6 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = call @callee(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = "stablehlo.if"(%p) ({
    %7 = stablehlo.tanh %1 : tensor<8x8xf32>
    stablehlo.return %7 : tensor<8x8xf32>
  }, {
    stablehlo.return %1 : tensor<8x8xf32>
  }) : (tensor<i1>) -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
"""


def reduce(folder: Path, command: str) -> tuple[str, str]:
    """The reduced program and the remarks. Each tested program is kept in a file."""
    (folder / "in.mlir").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "sdyopt", "in.mlir", f"--reduce=cp %s $$.mlir; {command}"],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("cosine", ["func.func private @callee", "cosine"]),
        ("call @callee", ["func.func private @callee", "func.func @main", "call @callee() : () -> ()"]),
        ("tanh", ["func.func @main", "tanh"]),
        # The operands of an operation in an isolated region become constants.
        ("stablehlo.dot .*4x8x", ["manual_computation", "stablehlo.constant", "stablehlo.dot"]),
    ],
)
def test_nothing_but_the_problem_is_left(tmp_path: Path, pattern: str, expected: list[str]) -> None:
    text, _ = reduce(tmp_path, f"grep -q '{pattern}' %s")
    for each in expected:
        assert each in text
    assert sum(1 for _ in sdyopt.parse(text).walk()) <= 10, text
    for path in tmp_path.glob("*.mlir"):
        sdyopt.parse(path)


def test_a_reduction_is_deterministic(tmp_path: Path) -> None:
    assert reduce(tmp_path, "grep -q tanh %s") == reduce(tmp_path, "grep -q tanh %s")


def test_an_interrupted_reduction_keeps_the_best_program(tmp_path: Path) -> None:
    interrupt = "echo >> count; test $(wc -l < count) != 10 || kill -INT $PPID"
    # A shell that runs the tests in the background lets them ignore it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        text, remarks = reduce(tmp_path, f"{interrupt}; grep -q tanh %s")
    finally:
        signal.signal(signal.SIGINT, before)
    assert "tanh" in text
    assert len(text) < 0.7 * len(PROGRAM)
    assert remarks.endswith(" operations by 9 tests, interrupted\n")


def test_pieces_are_dropped_in_halves_first() -> None:
    tried: list[Sequence[int]] = []

    def holds(pieces: Sequence[int]) -> bool:
        tried.append(pieces)
        return 3 in pieces

    assert smallest(range(4), holds) == [3]
    assert tried == [[2, 3], [], [3], []]
