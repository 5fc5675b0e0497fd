"""Sharding rules of plugins that cannot be right are errors, which name the function."""

from __future__ import annotations

from pathlib import Path

import pytest

import sdyopt

PLUGIN = """
from sdyopt import plugin

DIALECT = wrong = plugin.Dialect("{name}")


@wrong.op("rows", plugin.PURE)
class RowsOp(plugin.Op):
    input = plugin.operand(plugin.TENSOR)
    out = plugin.result(plugin.TENSOR)
    assembly = plugin.assembly("$input attr-dict `:` functional-type(operands, results)")


@plugin.sharding_rule(RowsOp, reduction=plugin.Reduction.ADD)
def rows(signature, builder):
    {factors}
"""
PROGRAM = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8xf32> {
  %0 = NAME.rows %x : (tensor<8x4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""


@pytest.mark.parametrize(
    ("name", "factors", "message"),
    [
        (
            "wrong_reduction",
            "builder.add_factor(8, [0], [0], plugin.FactorType.REDUCTION)",
            "has a wrong sharding rule: a reduction factor is in dimension 0 of result 0",
        ),
        (
            "wrong_size",
            "builder.add_factor(4, [0], [0])",
            "has a wrong sharding rule: dimension 0 of operand 0 has 8 elements, and factors of 4",
        ),
        (
            "two_factors",
            "builder.add_factor(8, [0], [0]); builder.add_factor(8, [0], [None])",
            "dimension 0 of operand 0 has 8 elements, and factors of 8 x 8",
        ),
    ],
)
def test_wrong_factors(tmp_path: Path, name: str, factors: str, message: str) -> None:
    file = tmp_path / f"{name}.py"
    file.write_text(PLUGIN.format(name=name, factors=factors))
    sdyopt.load_dialect_plugin(str(file))
    module = sdyopt.parse(PROGRAM.replace("NAME", name))
    with pytest.raises(sdyopt.PassError) as error:
        module.run("sdy-basic-propagate")
    assert message in str(error.value)
    assert f"correct the factors in the function of the plugin ({file}:" in str(error.value)


def test_a_dimension_that_a_tensor_lacks(tmp_path: Path) -> None:
    file = tmp_path / "no_dimension.py"
    file.write_text(PLUGIN.format(name="no_dimension", factors="builder.add_factor(8, [0], [5])"))
    sdyopt.load_dialect_plugin(str(file))
    module = sdyopt.parse(PROGRAM.replace("NAME", "no_dimension"))
    with pytest.raises(ValueError, match="result 0 has 1 dimensions: there is no dimension 5"):
        module.run("sdy-basic-propagate")
