// Propagation has not seen values that later passes create, such as the result of padding.
// RUN: sdy-opt %s -sdy-partition-pipeline --explain='output %%0' | filecheck %s
// CHECK: output %0 is result of stablehlo.pad: f32[8]
// CHECK-NEXT: ├─ a pass after propagation creates it, so no propagation decided on its sharding
// CHECK-NEXT: └─ see --explain=output_created.mlir:12 for the values that this line computes

sdy.mesh @mesh = <["x"=2]>

func.func @main(%a: tensor<7xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  // Padded to a multiple of two.
  %b = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<7xf32>
  %total = stablehlo.reduce(%b init: %zero) applies stablehlo.maximum across dimensions = [0]
    : (tensor<7xf32>, tensor<f32>) -> tensor<f32>
  return %total : tensor<f32>
}
