"""Explanations of shardings: the answers of `sdy-opt --explain`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import sdyopt

PROGRAM = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.negate %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""


def test_values_have_the_names_of_the_printed_program() -> None:
    text = sdyopt.parse(PROGRAM, name="model.mlir").explain("%0")
    assert text.splitlines() == [
        "%0: f32[8] is sharded P('x')  model.mlir:4",
        '├─ in sdy: tensor<8xf32> [{"x", ?}]; ? is open: no annotation keeps further axes out',
        '└─ "x" shards dimension 0',
        "   ├─ from %arg0 (dimension 0), forward along stablehlo.negate  model.mlir:4",
        "   └─ annotated: the input %arg0  model.mlir:3",
    ]


def test_other_passes() -> None:
    text = sdyopt.parse(PROGRAM).explain("%0", "sdy-basic-propagate")
    # Without op priorities there are no rounds.
    assert "forward along stablehlo.negate  <string>:4" in text


def test_the_module_stays_as_it_is() -> None:
    module = sdyopt.parse(PROGRAM)
    before = str(module)
    module.explain("%0")
    assert str(module) == before


def test_unknown_names_are_errors() -> None:
    with pytest.raises(sdyopt.ParseError, match="no value of this name in the source"):
        sdyopt.parse(PROGRAM).explain("%a")


def test_without_passes_it_is_the_answer_of_the_command(tmp_path: Path) -> None:
    program = Path(__file__).parents[2] / "lit" / "explain" / "collective_sides.mlir"
    file = tmp_path / "program.mlir"
    # The names and lines of the printed program.
    file.write_text(str(sdyopt.parse(program.read_text(encoding="utf-8"))), encoding="utf-8")
    command = [sys.executable, "-m", "sdyopt", str(file), "--explain=#4"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    answer = sdyopt.parse(file.read_text(encoding="utf-8"), name=str(file)).explain("#4")
    # With the changes and sdy-propagation-pipeline, a device would send something else.
    assert "tried: -8.00 KiB sent" in answer
    assert done.stdout.partition("\n\n")[2] == answer
