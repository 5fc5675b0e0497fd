// RUN: sdy-opt %s -sdy-sharding-constraint-to-reshard | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// A constraint becomes a reshard with its sharding and attributes.
// CHECK-LABEL: func.func @constraint
func.func @constraint(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK-NEXT: %[[MOVED:.*]] = sdy.reshard %arg0 <@mesh, [{"x"}, {?}]> {other} : tensor<4x4xf32>
  // CHECK-NEXT: return %[[MOVED]]
  %0 = sdy.sharding_constraint %x <@mesh, [{"x"}, {?}]> {other} : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// Chained and unused constraints are replaced too.
// CHECK-LABEL: func.func @chain
func.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[FIRST:.*]] = sdy.reshard %arg0 <@mesh, [{"x"}]>
  // CHECK-NEXT: %[[SECOND:.*]] = sdy.reshard %[[FIRST]] <@mesh, [{"y"}]>
  // CHECK-NEXT: sdy.reshard %[[FIRST]] <@mesh, [{}]>
  // CHECK-NEXT: return %[[SECOND]]
  %0 = sdy.sharding_constraint %x <@mesh, [{"x"}]> : tensor<4xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"y"}]> : tensor<4xf32>
  %2 = sdy.sharding_constraint %0 <@mesh, [{}]> : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// Constraints in nested regions.
// CHECK-LABEL: func.func @regions
func.func @regions(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK:      sdy.reshard %{{.*}} <@mesh, [{"x"}]>
  // CHECK-NEXT: sdy.return
  %0 = sdy.named_computation<"name">(%x) (%inner: tensor<4xf32>) {
    %1 = sdy.sharding_constraint %inner <@mesh, [{"x"}]> : tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A constraint on a token.
// CHECK-LABEL: func.func @token
func.func @token(%x: !stablehlo.token) -> !stablehlo.token {
  // CHECK-NEXT: sdy.reshard %arg0 <@mesh, []> : !stablehlo.token
  %0 = sdy.sharding_constraint %x <@mesh, []> : !stablehlo.token
  return %0 : !stablehlo.token
}

// Operations that fold are folded, as in every dialect conversion.
// CHECK-LABEL: func.func @folded
func.func @folded(%x: i32) -> i32 {
  // CHECK: return %arg0
  %0 = builtin.unrealized_conversion_cast %x : i32 to i64
  %1 = builtin.unrealized_conversion_cast %0 : i64 to i32
  return %1 : i32
}
