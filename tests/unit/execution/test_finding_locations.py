"""Findings of --validate have a line, also in a function without a location, as JAX writes them."""

from sdyopt.analysis.execution.validation import _function_location, _result_location
from sdyopt.base.diagnostics.location import Source, resolve_file_location
from sdyopt.mlir.asm.parser.module_parser import parse_module
from sdyopt.mlir.dialects.builtin import ModuleOp
from tests.unit.lint.programs import DIALECTS

TEXT = """
module {
  func.func public @main(%a: tensor<8xf32> loc("a")) -> tensor<8xf32> {
    %0 = stablehlo.tanh %a : tensor<8xf32> loc("tanh"("model.py":7:0))
    return %0 : tensor<8xf32> loc(unknown)
  } loc(unknown)
} loc(unknown)
"""


def test_a_function_without_a_location_has_the_line_of_its_first_operation() -> None:
    module, _ = parse_module(Source("program.mlir", TEXT), DIALECTS)
    assert isinstance(module, ModuleOp)
    for location in (_function_location(module, "main"), _result_location(module, "main", 0)):
        point = resolve_file_location(location)
        assert point is not None and (point.file, point.line) == ("model.py", 7)
