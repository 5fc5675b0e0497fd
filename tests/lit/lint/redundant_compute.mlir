// RUN: sdy-opt %s --lint=redundant-compute --lint-config=- --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["data"=4, "model"=2]>

// Both devices along "model" compute the product: half of the FLOPs of a device are redundant.
func.func @main(%x: tensor<8192x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %w: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> tensor<8192x1024xf32> {
  // expected-warning@+1 {{dot_general repeats 50% of its FLOPs, 2.15 GFLOP per device: nothing of it is sharded along "model"}}
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8192x1024xf32>, tensor<1024x1024xf32>) -> tensor<8192x1024xf32>
  return %0 : tensor<8192x1024xf32>
}
