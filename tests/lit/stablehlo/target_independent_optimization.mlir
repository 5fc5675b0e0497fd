// RUN: sdy-opt %s -stablehlo-target-independent-optimization | filecheck %s
// RUN: sdy-opt %s -stablehlo-target-independent-optimization='fold-op-element-limit=2 optimize-float=false' | filecheck %s --check-prefix=LIMITS

// What folds simplifies, and what is simplified folds.
// CHECK-LABEL: func.func @both(
// CHECK-SAME:    %[[X:.*]]: tensor<4xi32>)
// CHECK-NEXT:    return %[[X]] : tensor<4xi32>
func.func @both(%x: tensor<4xi32>) -> tensor<4xi32> {
  %c = stablehlo.constant dense<1> : tensor<4xi32>
  %0 = stablehlo.subtract %c, %c : tensor<4xi32>
  %1 = stablehlo.add %0, %x : tensor<4xi32>
  %i = stablehlo.iota dim = 1 : tensor<4x1xi32>
  %2 = stablehlo.reshape %i : (tensor<4x1xi32>) -> tensor<4xi32>
  %3 = stablehlo.or %1, %2 : tensor<4xi32>
  return %3 : tensor<4xi32>
}

// CHECK-LABEL: func.func @limits(
// CHECK-DAG:     stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
// CHECK-DAG:     stablehlo.constant dense<3.000000e+00> : tensor<f32>
// LIMITS-LABEL: func.func @limits(
// LIMITS:         stablehlo.concatenate
// LIMITS:         stablehlo.add
func.func @limits() -> (tensor<3xi32>, tensor<f32>) {
  %c = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %d = stablehlo.constant dense<3> : tensor<1xi32>
  %0 = stablehlo.concatenate %c, %d, dim = 0 : (tensor<2xi32>, tensor<1xi32>) -> tensor<3xi32>
  %f = stablehlo.constant dense<1.0> : tensor<f32>
  %g = stablehlo.constant dense<2.0> : tensor<f32>
  %1 = stablehlo.add %f, %g : tensor<f32>
  return %0, %1 : tensor<3xi32>, tensor<f32>
}

// CHECK-LABEL: func.func @loop_with_effects(
// CHECK:         stablehlo.while
func.func @loop_with_effects(%x: tensor<i32>) -> tensor<i32> {
  %false = stablehlo.constant dense<false> : tensor<i1>
  %0 = stablehlo.while(%i = %x) : tensor<i32>
    cond {
    stablehlo.return %false : tensor<i1>
  } do {
    %1 = stablehlo.custom_call @f(%i) {has_side_effect = true} : (tensor<i32>) -> tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }
  return %0 : tensor<i32>
}
