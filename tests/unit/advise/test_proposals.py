"""What is proposed first for the collective of a place."""

import pytest

from sdyopt.analysis.changes.proposals.collectives import at_place
from sdyopt.analysis.changes.search import Search
from sdyopt.analysis.changes.trials import Trials, completing_pipeline
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.parser.module_parser import parse_module
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.registry import all_dialects, find_dialect

_LAYERS = """
sdy.mesh @mesh = <["fsdp"=4, "tp"=2]>
func.func @main(
    %x: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"fsdp"}, {}]>} loc("x"),
    %w: tensor<256x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [UP]>} loc("params['up']"),
    %v: tensor<1024x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [DOWN]>} loc("params['down']"))
    -> (tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"fsdp"}, {}]>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<64x256xf32>, tensor<256x1024xf32>) -> tensor<64x1024xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"fsdp"}, {"tp"}]> : tensor<64x1024xf32>
  %2 = stablehlo.dot_general %1, %v, contracting_dims = [1] x [0]
      : (tensor<64x1024xf32>, tensor<1024x256xf32>) -> tensor<64x256xf32>
  %3 = sdy.sharding_constraint %2 <@mesh, [{"fsdp"}, {"tp"}]> : tensor<64x256xf32>
  return %3 : tensor<64x256xf32>
}
"""


@pytest.mark.parametrize(
    ("up", "down", "spec"),
    [
        # What the product contracts has "tp", as the other dimension of the weight.
        ('{"fsdp"}, {"tp"}', '{"fsdp"}, {"tp"}', "P('tp', 'fsdp')"),
        # What the product gives is needed along "tp", as the dimension that it contracts has it.
        ('{"tp"}, {"fsdp"}', '{"tp"}, {"fsdp"}', "P('fsdp', 'tp')"),
    ],
)
def test_a_weight_as_its_product_needs_it_comes_first(up: str, down: str, spec: str) -> None:
    text = _LAYERS.replace("UP", up).replace("DOWN", down)
    module, _ = parse_module(Source("program", text), DialectTable(find_dialect, all_dialects))
    search = Search(Trials(module, completing_pipeline(module)))
    assert search.trials.outcome is not None
    first = [next(iter(at_place(search.program, place)), None) for place in search.trials.outcome.largest_at]
    assert [spec] in [[edit.jax for edit in change.edits] for change in first if change is not None]
