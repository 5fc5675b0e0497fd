// RUN: sdy-opt %s --lint=axis-order-permute --lint-config=- --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["x"=4, "y"=4]>

// One axis takes the place of another: the shards are on other devices for a reason.
func.func @replaced(%a: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<512x512xf32> {
  %0 = sdy.collective_permute %a out_sharding=<@mesh, [{"y"}, {}]> : tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}

// The axes exchange their dimensions.
func.func @exchanged(%a: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<512x512xf32> {
  %0 = sdy.collective_permute %a out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
