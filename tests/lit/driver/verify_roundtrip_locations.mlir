// RUN: sdy-opt %s --verify-roundtrip | filecheck %s

// The short form has no syntax for the locations in the region, so locations are compared in generic form only.
// CHECK: stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add
func.func @sum(%x: tensor<8xf32>, %zero: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.reduce"(%x, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%left: tensor<f32>, %right: tensor<f32>):
    %1 = stablehlo.add %left, %right : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
