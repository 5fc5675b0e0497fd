// RUN: sdy-opt %s -sdy-constant-or-scalar-merger | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// The first of equal constants replaces the others.
// CHECK-LABEL: func.func @equal
// CHECK-NEXT: %0 = sdy.constant dense<1.000000e+00> : tensor<8xf32>
// CHECK-NEXT: %1 = stablehlo.add %arg0, %0
// CHECK-NEXT: %2 = stablehlo.multiply %1, %0
// CHECK-NEXT: return %2
func.func @equal(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.constant dense<1.0> : tensor<8xf32>
  %1 = stablehlo.add %a, %0 : tensor<8xf32>
  %2 = sdy.constant dense<1.0> : tensor<8xf32>
  %3 = stablehlo.multiply %1, %2 : tensor<8xf32>
  return %3 : tensor<8xf32>
}

// Constants with different shardings are kept apart.
// CHECK-LABEL: func.func @sharded
// CHECK-NEXT: %0 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<1.000000e+00>
// CHECK-NEXT: %1 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} dense<1.000000e+00>
// CHECK-NEXT: return %0, %1, %0
func.func @sharded() -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<1.0> : tensor<8xf32>
  %1 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} dense<1.0> : tensor<8xf32>
  %2 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<1.0> : tensor<8xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// The dialect of a constant does not matter; its value and type do.
// CHECK-LABEL: func.func @dialects
// CHECK-NEXT: %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[SHAPED:.*]] = stablehlo.constant dense<2.000000e+00> : tensor<4xf32>
// CHECK-NEXT: return %cst, %cst, %[[SHAPED]]
func.func @dialects() -> (tensor<f32>, tensor<f32>, tensor<4xf32>) {
  %0 = stablehlo.constant dense<2.0> : tensor<f32>
  %1 = sdy.constant dense<2.0> : tensor<f32>
  %2 = stablehlo.constant dense<2.0> : tensor<4xf32>
  return %0, %1, %2 : tensor<f32>, tensor<f32>, tensor<4xf32>
}

// Broadcasts of one scalar to one type are merged too.
// CHECK-LABEL: func.func @broadcasts
// CHECK-NEXT: %0 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
// CHECK-NEXT: %1 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %2 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
// CHECK-NEXT: return %0, %0, %1, %2
func.func @broadcasts(%a: tensor<f32>, %b: tensor<f32>)
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<4x8xf32>) {
  %0 = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
  %1 = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
  %2 = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %3 = stablehlo.broadcast_in_dim %b, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
  return %0, %1, %2, %3 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<4x8xf32>
}

// Broadcasts of two equal constants are equal after the constants are merged.
// CHECK-LABEL: func.func @broadcasts_of_constants
// CHECK-NEXT: %0 = sdy.constant
// CHECK-NEXT: %1 = stablehlo.broadcast_in_dim %0
// CHECK-NEXT: return %1, %1
func.func @broadcasts_of_constants() -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = sdy.constant dense<1.0> : tensor<f32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %2 = sdy.constant dense<1.0> : tensor<f32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<8xf32>
  return %1, %3 : tensor<8xf32>, tensor<8xf32>
}

// Iotas, broadcasts of non-scalars and operations on constants are not merged.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-2: stablehlo.iota
// CHECK-COUNT-2: stablehlo.broadcast_in_dim %arg0
// CHECK: %[[ONE:.*]] = sdy.constant
// CHECK-NEXT: stablehlo.negate %[[ONE]]
// CHECK-NEXT: stablehlo.negate %[[ONE]]
func.func @others(%a: tensor<4xf32>)
    -> (tensor<4xi32>, tensor<4xi32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.iota dim = 0 : tensor<4xi32>
  %1 = stablehlo.iota dim = 0 : tensor<4xi32>
  %2 = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %3 = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %4 = sdy.constant dense<1.0> : tensor<8xf32>
  %5 = stablehlo.negate %4 : tensor<8xf32>
  %6 = stablehlo.negate %4 : tensor<8xf32>
  return %0, %1, %2, %3, %5, %6 : tensor<4xi32>, tensor<4xi32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>
}

// A constant inside a region is merged with constants of that region only.
// CHECK-LABEL: func.func @regions
// CHECK-NEXT: %0 = sdy.constant dense<1.000000e+00> : tensor<f32>
// CHECK: %2 = sdy.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %3 = stablehlo.add %2, %2
// CHECK: }, {
// CHECK: %2 = sdy.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %3 = stablehlo.add %2, %0
// CHECK: return %0, %1
func.func @regions(%i: tensor<i32>) -> (tensor<f32>, tensor<f32>) {
  %0 = sdy.constant dense<1.0> : tensor<f32>
  %1 = "stablehlo.case"(%i) ({
    %2 = sdy.constant dense<1.0> : tensor<f32>
    %3 = sdy.constant dense<1.0> : tensor<f32>
    %4 = stablehlo.add %2, %3 : tensor<f32>
    stablehlo.return %4 : tensor<f32>
  }, {
    %2 = sdy.constant dense<1.0> : tensor<f32>
    %3 = stablehlo.add %2, %0 : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }) : (tensor<i32>) -> tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}
