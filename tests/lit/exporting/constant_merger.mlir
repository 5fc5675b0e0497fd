// RUN: sdy-opt %s -sdy-constant-merger | filecheck %s

sdy.mesh @mesh = <["x"=2]>

// Equal constants with equal shardings are merged.
// CHECK-LABEL: func.func @constants
// CHECK-NEXT: %0 = sdy.constant dense<1.000000e+00> : tensor<8xf32>
// CHECK-NEXT: %1 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<1.000000e+00>
// CHECK-NEXT: return %0, %0, %1
func.func @constants() -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = sdy.constant dense<1.0> : tensor<8xf32>
  %1 = sdy.constant dense<1.0> : tensor<8xf32>
  %2 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<1.0> : tensor<8xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// Broadcasts are not merged, not even of scalars.
// CHECK-LABEL: func.func @broadcasts
// CHECK-NEXT: %0 = sdy.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %1 = stablehlo.broadcast_in_dim %0
// CHECK-NEXT: %2 = stablehlo.broadcast_in_dim %0
// CHECK-NEXT: return %1, %2
func.func @broadcasts() -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = sdy.constant dense<1.0> : tensor<f32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %2 = sdy.constant dense<1.0> : tensor<f32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<8xf32>
  return %1, %3 : tensor<8xf32>, tensor<8xf32>
}

// Constants are merged within one region only.
// CHECK-LABEL: func.func @regions
// CHECK: %0 = sdy.constant
// CHECK: %2 = sdy.constant
// CHECK-NEXT: stablehlo.return %2
func.func @regions(%i: tensor<i32>) -> (tensor<f32>, tensor<f32>) {
  %0 = sdy.constant dense<1.0> : tensor<f32>
  %1 = "stablehlo.case"(%i) ({
    %2 = sdy.constant dense<1.0> : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<i32>) -> tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}
