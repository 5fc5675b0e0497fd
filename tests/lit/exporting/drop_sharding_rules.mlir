// RUN: sdy-opt %s -sdy-drop-sharding-rules | filecheck %s

// Sharding rules are removed, other attributes are kept.
// CHECK-LABEL: func.func @rules
func.func @rules(%x: tensor<4x8xf32>, %y: tensor<8x2xf32>) -> tensor<4x2xf32> {
  // CHECK-NEXT: stablehlo.dot %arg0, %arg1 : (
  // CHECK-NEXT: stablehlo.negate %{{.*}} {other} : tensor
  %0 = stablehlo.dot %x, %y {sdy.sharding_rule = #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=4, j=2, k=8} reduction={k}>} : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %1 = stablehlo.negate %0 {other, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=2}>} : tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}

// A custom rule is kept.
// CHECK-LABEL: func.func @custom
func.func @custom(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: stablehlo.custom_call @foo(%arg0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=4}, custom>}
  %0 = stablehlo.custom_call @foo(%x) {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=4}, custom>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Rules of nested operations are removed too.
// CHECK-LABEL: func.func @regions
func.func @regions(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK:      stablehlo.negate %{{.*}} : tensor<4xf32>
  // CHECK-NEXT: sdy.return
  %0 = sdy.named_computation<"name">(%x) (%inner: tensor<4xf32>) {
    %1 = stablehlo.negate %inner {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=4}>} : tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
