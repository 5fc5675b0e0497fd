// RUN: sdy-opt %s -split-input-file -sdy-constant-or-scalar-splitter -sdy-basic-propagate -sdy-constant-or-scalar-merger | filecheck %s

// Every use has its own constant during propagation. Afterwards those with equal shardings are merged into
// the first of them.

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func.func @constant
// CHECK-NEXT: %0 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>]>} dense<1.000000e+00>
// CHECK-NEXT: %1 = sdy.constant dense<1.000000e+00> : tensor<8xf32>
// CHECK-NEXT: %2 = stablehlo.add %arg0, %0
// CHECK-NEXT: %3 = stablehlo.multiply %2, %0
// CHECK-NEXT: return %3, %1
func.func @constant(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<8xf32>, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %c = stablehlo.constant dense<1.0> : tensor<8xf32>
  %0 = stablehlo.add %a, %c : tensor<8xf32>
  %1 = stablehlo.multiply %0, %c : tensor<8xf32>
  return %1, %c : tensor<8xf32>, tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// The same for broadcasts of a scalar.
// CHECK-LABEL: func.func @broadcast
// CHECK-NEXT: %0 = stablehlo.broadcast_in_dim %arg1, dims = [] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>]>}
// CHECK-NEXT: %1 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %2 = stablehlo.add %arg0, %0
// CHECK-NEXT: %3 = stablehlo.multiply %2, %0
// CHECK-NEXT: return %3, %1
func.func @broadcast(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %s: tensor<f32>)
    -> (tensor<8xf32>, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %0 = stablehlo.add %a, %b : tensor<8xf32>
  %1 = stablehlo.multiply %0, %b : tensor<8xf32>
  return %1, %b : tensor<8xf32>, tensor<8xf32>
}
