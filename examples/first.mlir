sdy.mesh @mesh = <["data"=4, "model"=2]>

func.func @layer(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {?}]>},
                 %w: tensor<16x32xf32>) -> tensor<8x32xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %z = sdy.sharding_constraint %y <@mesh, [{"data"}, {"model"}]> : tensor<8x32xf32>
  return %z : tensor<8x32xf32>
}
