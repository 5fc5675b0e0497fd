// RUN: sdy-opt %s --lint=redundant-compute --lint-config=- --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["data"=4, "model"=2]>

// The features are sharded along "model": each device computes its share.
func.func @shared(%x: tensor<8192x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %w: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}) -> tensor<8192x1024xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8192x1024xf32>, tensor<1024x1024xf32>) -> tensor<8192x1024xf32>
  return %0 : tensor<8192x1024xf32>
}

// -----

sdy.mesh @mesh = <["data"=4, "model"=2]>

// A small product may be repeated: to share it would cost more than it saves.
func.func @small(%x: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
