"""Programs for the tests of the Python interface."""

LAYER = """\
sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @layer(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {?}]>},
                 %w: tensor<16x32xf32>)
    -> (tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32> loc("layer/dot"("model.py":12:7))
  return %y : tensor<8x32xf32>
}
"""

# The second operand of the product is sharded along the reduced dimension: an all-reduce is inserted.
REDUCED = """\
sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @layer(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
                 %w: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>})
    -> tensor<8x32xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32> loc("layer/dot"("model.py":12:7))
  return %y : tensor<8x32xf32>
}
"""
COLLECTIVES = "-sdy-propagation-pipeline=enable-insert-explicit-collectives=true"
