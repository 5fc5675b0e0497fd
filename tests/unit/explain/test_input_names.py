"""The names of values in the source, with and without locations of their own."""

import pytest

from sdyopt.analysis.explain.names import InputNames
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.parser.module_parser import ParseOptions, parse_module
from sdyopt.mlir.asm.parser.ssa_scope import ParseRecord
from sdyopt.mlir.registry import dialect_table

PLAIN = """
func.func @main(%a: tensor<8xf32>, %b: tensor<f32>) -> tensor<f32> {
  %0:2 = "stablehlo.optimization_barrier"(%a, %a) : (tensor<8xf32>, tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>)
  %x, %y = stablehlo.optimization_barrier %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
  %sum = stablehlo.reduce(%x init: %b) applies stablehlo.add across dimensions = [0]
    : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  return %sum : tensor<f32>
}
"""
# Every statement and argument has a location of its own.
LOCATED = PLAIN.replace("tensor<f32>\n  return", 'tensor<f32> loc("m.py":3:1)\n  return').replace(
    "%a: tensor<8xf32>,", '%a: tensor<8xf32> loc("a"),'
)


@pytest.mark.parametrize("text", [PLAIN, LOCATED], ids=["plain", "located"])
def test_names_are_those_of_the_source(text: str) -> None:
    source, record = Source("test.mlir", text), ParseRecord()
    module, _ = parse_module(source, dialect_table(), ParseOptions(), record)
    names = InputNames(source, module, record)
    # The operation inside the short form of the reduction has no name in the source.
    found = [name.name for name in names.of_value.values() if name.function == "main"]
    assert found == ["%a", "%b", "%0#0", "%0#1", "%x", "%y", "%sum"]
    for name in names.of_value.values():
        assert name.offset == text.index(name.name.partition("#")[0])
