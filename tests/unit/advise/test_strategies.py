"""Groups of dimensions, and the annotations that follow from what an axis shards."""

from sdyopt.analysis.advise.strategies import CONSTRAINTS, PARAMETERS, Strategies, Strategy, Use
from sdyopt.analysis.changes.axes import mesh_of
from sdyopt.analysis.changes.roles import Dimensions, roles_of
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.parser.module_parser import parse_module
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.registry import all_dialects, find_dialect

# Two layers of heads, in a loop, after the rows of a table are looked up.
LAYERS = """
sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(%table: tensor<512x32xf32>, %tokens: tensor<64x1xi32>, %up: tensor<3x32x8x16xf32>,
    %down: tensor<3x8x16x32xf32>) -> tensor<64x32xf32> {
  %x = "stablehlo.gather"(%table, %tokens) <{
    dimension_numbers = #stablehlo.gather<
      offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 32>}> : (tensor<512x32xf32>, tensor<64x1xi32>) -> tensor<64x32xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %h = %x) : tensor<i32>, tensor<64x32xf32>
  cond {
    %c = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %u = stablehlo.dynamic_slice %up, %i, %zero, %zero, %zero, sizes = [1, 32, 8, 16]
      : (tensor<3x32x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x8x16xf32>
    %u1 = stablehlo.reshape %u : (tensor<1x32x8x16xf32>) -> tensor<32x8x16xf32>
    %d = stablehlo.dynamic_slice %down, %i, %zero, %zero, %zero, sizes = [1, 8, 16, 32]
      : (tensor<3x8x16x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x16x32xf32>
    %d1 = stablehlo.reshape %d : (tensor<1x8x16x32xf32>) -> tensor<8x16x32xf32>
    %a = stablehlo.dot_general %h, %u1, contracting_dims = [1] x [0]
      : (tensor<64x32xf32>, tensor<32x8x16xf32>) -> tensor<64x8x16xf32>
    %t = stablehlo.tanh %a : tensor<64x8x16xf32>
    %b = stablehlo.dot_general %t, %d1, contracting_dims = [1, 2] x [0, 1]
      : (tensor<64x8x16xf32>, tensor<8x16x32xf32>) -> tensor<64x32xf32>
    %s = stablehlo.add %h, %b : tensor<64x32xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %s : tensor<i32>, tensor<64x32xf32>
  }
  return %r#1 : tensor<64x32xf32>
}
"""


def parsed(text: str) -> Op:
    module, _ = parse_module(Source("program", text), DialectTable(find_dialect, all_dialects))
    return module


def strategies() -> Strategies:
    module = parsed(LAYERS)
    mesh = mesh_of(module)
    assert mesh is not None
    return Strategies(module, roles_of(module), mesh)


def specs(strategy: Strategy) -> list[str | None]:
    return [change.jax for change in strategies().change(strategy).edits]


def test_dimensions_that_operations_relate_are_one_group() -> None:
    module = parsed(LAYERS)
    roles = roles_of(module)
    dimensions = Dimensions(module, roles)
    table, tokens, up, down = (dimensions.of(role) for role in roles if role.is_input)
    rows, hidden = table
    layers, _, heads, size = up
    assert up[1] is hidden
    assert down[1:] == [heads, size, hidden]
    # Three times two products of 64 x 32 x 8 x 16.
    work = 3 * 2 * 64 * 32 * 8 * 16
    assert [tokens[0].work, hidden.work, heads.work, rows.work, layers.work] == [work, work, work, 0, 0]


def test_an_axis_shards_the_batch_and_another_one_the_products() -> None:
    data, *_ = strategies().seeds("data")
    assert specs(data) == ["P('data')"]
    _, _, _, _, model, _ = strategies().seeds("model")
    # Pairs of products share the heads; the rows of the table have no product.
    assert specs(data | model) == [
        "P('model')",
        "P('data')",
        "P(None, None, 'model')",
        "P(None, 'model')",
    ]


def test_an_axis_shards_parameters_in_addition() -> None:
    both = frozenset({Use("data", 0), Use("data", PARAMETERS)})
    expected = [
        "P(None, 'data')",
        "P('data')",
        "P(None, 'data')",
        "P(None, None, None, 'data')",
    ]
    assert specs(both) == expected
    # With constraints, the rows that are looked up, and the results of products.
    constrained = specs(both | {Use("", CONSTRAINTS)})
    assert constrained[:4] == expected
    assert constrained[4:] == ["P('data')", "P('data')"]
