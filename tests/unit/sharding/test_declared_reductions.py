"""A rule of a plugin declares how partial results are combined; undeclared, operands are gathered."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

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
from sdyopt.shardy.sharding.op_sharding_rule_registry import sharding_rule

DIALECT = toy = Dialect("toy")


def row(signature, builder):
    rows, columns = signature.operand_types[0].shape
    builder.add_factor(rows, [0], [0])
    builder.add_factor(columns, [1], [None], FactorType.REDUCTION)


for reduction in (Reduction.ADD, Reduction.MAX, Reduction.MIN, Reduction.MUL, Reduction.AND, None):
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
func.func @main(%a: tensor<8x16xELEMENT> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
    -> tensor<8xELEMENT> {
  %0 = toy.NAME %a : (tensor<8x16xELEMENT>) -> tensor<8xELEMENT>
  return %0 : tensor<8xELEMENT>
}
"""


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
