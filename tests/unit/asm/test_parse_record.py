"""What the parser records of a source, with and without the statement cache."""

import pytest

from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.parser.module_parser import ParseOptions, parse_module
from sdyopt.mlir.asm.parser.ssa_scope import ParseRecord
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.registry import find_dialect

TEXT = """
func.func @main(%a: tensor<8xf32> loc("a"), %b: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.abs %a : tensor<8xf32>
  %1 = stablehlo.abs %0 : tensor<8xf32>
  %2 = stablehlo.abs %1 : tensor<8xf32> loc(#l)
  %3 = stablehlo.abs %2 : tensor<8xf32> loc(#l)
  %4:2 = "x.pair"(%3) {at = loc("y"), text = "loc(z)"} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %5 = stablehlo.reduce(%4#0 init: %b) applies stablehlo.add across dimensions = [0]
    : (tensor<8xf32>, tensor<f32>) -> tensor<f32> loc(#l) // loc(1)
  return %5 : tensor<f32>
}
#l = loc("l")
"""


def recorded(text: str, uses_cache: bool) -> tuple[list[str], ParseRecord]:
    """The names of the operations, each with the text at its offset, and the record."""
    record = ParseRecord()
    options = ParseOptions(allow_unregistered_dialects=True, uses_statement_cache=uses_cache)
    module, _ = parse_module(Source("f.mlir", text), DialectTable(find_dialect), options, record)
    return [
        f"{op.signature.name}: {text[offset:].split()[0]}"
        for op in module.walk()
        if (offset := record.offsets.get(op)) is not None
    ], record


@pytest.mark.parametrize("uses_cache", [True, False])
def test_record(uses_cache: bool) -> None:
    offsets, record = recorded(TEXT, uses_cache)
    assert offsets == [
        "func.func: func.func",
        *4 * ["stablehlo.abs: stablehlo.abs"],
        'x.pair: "x.pair"(%3)',
        # The location of a reduction is after its name, and that of what it implies, too.
        "stablehlo.reduce: (%4#0",
        "stablehlo.add: (%4#0",
        "stablehlo.return: (%4#0",
        "func.return: return",
    ]
    names = sorted(record.values.values(), key=lambda definition: definition.name)
    assert [name for name, _ in names] == ["%0", "%1", "%2", "%3", "%4#0", "%4#1", "%5", "%a", "%b"]
    assert all(offset == TEXT.index(name.partition("#")[0]) for name, offset in names)
    locations = [TEXT[start : start + 7] for start in sorted(record.locations)]
    assert locations == ['loc("a"', "loc(#l)", "loc(#l)", "loc(#l)"]
