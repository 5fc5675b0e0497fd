"""A rule of a plugin declares how partial results are combined; undeclared, operands are gathered."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interpreter.partitioned import difference, partitioned

ROOT = Path(__file__).parents[3]

# One operation for each kind of reduction; all have the same rule.
DIALECT = """
from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.dialects.stablehlo.types import ANY_TENSOR
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.op_fields import operand, result
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import PURE
from sdyopt.shardy.sharding.op_sharding_rule_builder import FactorType, Reduction
from sdyopt.shardy.sharding.op_sharding_rule_builder import sharding_rule

DIALECT = toy = Dialect("toy")


def row(signature, builder):
    rows, columns = signature.operand_types[0].shape
    builder.add_factor(rows, [0], [0])
    builder.add_factor(columns, [1], [None], FactorType.REDUCTION)


REDUCTIONS = ["ADD", "MAX", "MIN", "MUL", "AND", "OR"]
for reduction in [*map(Reduction.__getitem__, REDUCTIONS), None]:
    name = "row_" + ("unknown" if reduction is None else reduction.name.lower())
    parts = {
        "__slots__": (),
        "operand": operand(ANY_TENSOR),
        "out": result(ANY_TENSOR),
        "assembly": assembly("$operand attr-dict `:` functional-type(operands, results)"),
    }
    op_class = toy.op(name, PURE)(type(name, (Op,), parts))
    sharding_rule(op_class, reduction=reduction)(row)
"""

PROGRAM = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x4xELEMENT> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
    -> tensor<8xELEMENT> {
  %0 = toy.NAME %a : (tensor<8x4xELEMENT>) -> tensor<8xELEMENT>
  return %0 : tensor<8xELEMENT>
}
"""


CUSTOM_CALL = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @row(%a) {
    sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i]) {i=8, j=16} reduction={j}, custom>
  } : (tensor<8x16xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""
# What the operations compute. An unknown reduction is one that depends on the positions of elements.
REDUCE = """%init = stablehlo.constant dense<INIT> : tensor<ELEMENT>
    %0 = stablehlo.reduce(VALUE init: %init) applies stablehlo.NAME across dimensions = [1]
      : (TYPE, tensor<ELEMENT>) ->"""
WEIGHTED = """%weights = stablehlo.iota dim = 1 : TYPE
    %weighted = stablehlo.multiply VALUE, %weights : TYPE
    """ + REDUCE.replace("VALUE", "%weighted")
_ROW = re.compile(
    r"%\d+ = (?:toy\.\w+ |stablehlo\.custom_call @row\()(%\w+).*?: \((tensor<8x\d+x(\w+)>)\) ->", re.DOTALL
)


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """A folder with the plugin, as an installer writes it."""
    (tmp_path / "toy_reductions.py").write_text(DIALECT)
    information = tmp_path / "toy_reductions-1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: toy_reductions\nVersion: 1\n")
    (information / "entry_points.txt").write_text("[sdyopt.dialects]\ntoy = toy_reductions:DIALECT\n")
    return tmp_path


def run(plugin: Path, name: str, element: str, flag: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "sdyopt", "--load-dialect-plugin=toy", flag],
        input=PROGRAM.replace("NAME", name).replace("ELEMENT", element),
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(plugin)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("name", "element", "combiner"),
    [
        ("row_add", "f32", "stablehlo.add"),
        ("row_max", "f32", "stablehlo.maximum"),
        ("row_min", "f32", "stablehlo.minimum"),
        ("row_mul", "f32", "stablehlo.multiply"),
        ("row_and", "i1", "stablehlo.and"),
    ],
)
def test_partial_results_are_combined_as_declared(
    plugin: Path, name: str, element: str, combiner: str
) -> None:
    partitioned = run(plugin, name, element, "-sdy-partition-pipeline")
    assert '"stablehlo.all_reduce"' in partitioned
    assert f"{combiner} %" in partitioned


@pytest.mark.parametrize(("name", "element"), [("row_unknown", "f32"), ("row_and", "i32")])
def test_operands_are_gathered_without_a_known_collective(plugin: Path, name: str, element: str) -> None:
    partitioned = run(plugin, name, element, "-sdy-partition-pipeline")
    assert '"stablehlo.all_gather"' in partitioned
    assert "all_reduce" not in partitioned


def test_a_maximum_is_one_before_partitioning_too(plugin: Path) -> None:
    collectives = "-sdy-propagation-pipeline=enable-insert-explicit-collectives=true"
    assert 'sdy.all_reduce max {"x"}' in run(plugin, "row_max", "f32", collectives)


def computing(text: str, body: str, name: str, init: str) -> str:
    """A program with what an operation computes in place of it."""

    def replaced(match: re.Match[str]) -> str:
        parts = {"VALUE": match[1], "TYPE": match[2], "ELEMENT": match[3], "NAME": name, "INIT": init}
        return re.sub("|".join(parts), lambda each: parts[each[0]], body)

    found, count = _ROW.subn(replaced, text)
    assert count == 1, text
    # The result of the operation has its own number in the partitioned program.
    number = _ROW.search(text)
    assert number is not None
    return found.replace("%0 = stablehlo.reduce", number[0].partition(" ")[0] + " = stablehlo.reduce")


@pytest.mark.parametrize(
    ("operation", "element", "name", "init"),
    [
        ("row_add", "f32", "add", "0.0"),
        ("row_max", "f32", "maximum", "0xFF800000"),
        ("row_min", "f32", "minimum", "0x7F800000"),
        ("row_mul", "f32", "multiply", "1.0"),
        ("row_and", "i1", "and", "true"),
        ("row_or", "i1", "or", "false"),
    ],
)
def test_a_partitioned_operation_computes_the_same(
    plugin: Path, operation: str, element: str, name: str, init: str
) -> None:
    whole = PROGRAM.replace("NAME", operation).replace("ELEMENT", element)
    local = run(plugin, operation, element, "-sdy-partition-pipeline")
    assert '"stablehlo.all_reduce"' in local
    before, after = (computing(text, REDUCE, name, init) for text in (whole, local))
    assert difference(before, after) == ""
    # The test notices another combination.
    other = "minimum" if name in ("add", "or") else "add"
    assert difference(before, after.replace(f"stablehlo.{name} %", f"stablehlo.{other} %")) != ""


def test_a_reduction_that_is_unknown_computes_the_same(plugin: Path) -> None:
    whole = PROGRAM.replace("NAME", "row_unknown").replace("ELEMENT", "f32")
    local = run(plugin, "row_unknown", "f32", "-sdy-partition-pipeline")
    before, after = (computing(text, WEIGHTED, "add", "0.0") for text in (whole, local))
    assert difference(before, after) == ""


def test_a_custom_call_with_a_reduction_factor_computes_the_same() -> None:
    before, after = (
        computing(text, WEIGHTED, "add", "0.0") for text in (CUSTOM_CALL, partitioned(CUSTOM_CALL))
    )
    assert difference(before, after) == ""
