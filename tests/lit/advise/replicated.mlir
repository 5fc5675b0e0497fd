// RUN: sdy-opt %s --advise | filecheck %s

// The constraint replicates what would be sharded along two axes. Both come at once without it, or with what the
// value has before the constraint.

// CHECK: 1. remove the with_sharding_constraint at model.py:6

sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(
    %x: tensor<256x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("batch"),
    %w: tensor<512x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>} loc("params['head']"))
    -> (tensor<256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<256x512xf32>, tensor<512x4096xf32>) -> tensor<256x4096xf32> loc("jit(f)/dot_general"("f"("model.py":5:1)))
  %1 = sdy.sharding_constraint %0 <@mesh, [{}, {}]> : tensor<256x4096xf32> loc("jit(f)/sharding_constraint"("f"("model.py":6:1)))
  %2 = stablehlo.exponential %1 : tensor<256x4096xf32> loc("jit(f)/exp"("f"("model.py":7:1)))
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<256x4096xf32>, tensor<f32>) -> tensor<256xf32> loc("jit(f)/reduce_sum"("f"("model.py":7:1)))
  return %3 : tensor<256xf32>
}
