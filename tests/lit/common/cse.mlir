// RUN: sdy-opt %s -cse | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// The first of equal operations replaces the others.
// CHECK-LABEL: func.func @equal_operations
func.func @equal_operations(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %arg0, %arg1
  // CHECK-NEXT: return %[[SUM]], %[[SUM]]
  %0 = stablehlo.add %x, %y : tensor<4xf32>
  %1 = stablehlo.add %x, %y : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// Users of equal values may become equal.
// CHECK-LABEL: func.func @chains
func.func @chains(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[ONE:.*]] = stablehlo.constant
  // CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %arg0, %[[ONE]]
  // CHECK-NEXT: return %[[SUM]], %[[SUM]]
  %0 = stablehlo.constant dense<1.0> : tensor<4xf32>
  %1 = stablehlo.constant dense<1.0> : tensor<4xf32>
  %2 = stablehlo.add %x, %0 : tensor<4xf32>
  %3 = stablehlo.add %x, %1 : tensor<4xf32>
  return %2, %3 : tensor<4xf32>, tensor<4xf32>
}

// All attributes are compared, and the order of operands.
// CHECK-LABEL: func.func @different_operations
func.func @different_operations(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-COUNT-3: stablehlo.add
  %0 = stablehlo.add %x, %y : tensor<4xf32>
  %1 = stablehlo.add %x, %y {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<4xf32>
  %2 = stablehlo.add %y, %x : tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Only operations without effects are merged: a reshard, but not a constraint.
// CHECK-LABEL: func.func @effects
func.func @effects(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[MOVED:.*]] = sdy.reshard
  // CHECK-NEXT: %[[WISH:.*]] = sdy.sharding_constraint
  // CHECK-NEXT: %[[SAME_WISH:.*]] = sdy.sharding_constraint
  // CHECK-NEXT: return %[[MOVED]], %[[MOVED]], %[[WISH]], %[[SAME_WISH]]
  %0 = sdy.reshard %x <@mesh, [{"x"}]> : tensor<4xf32>
  %1 = sdy.reshard %x <@mesh, [{"x"}]> : tensor<4xf32>
  %2 = sdy.sharding_constraint %x <@mesh, [{"x"}]> : tensor<4xf32>
  %3 = sdy.sharding_constraint %x <@mesh, [{"x"}]> : tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Operations with equal regions are equal.
// CHECK-LABEL: func.func @equal_regions
func.func @equal_regions(%x: tensor<4x4xf32>, %zero: tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[SUM:.*]] = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add
  // CHECK-NEXT: %[[MAXIMUM:.*]] = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.maximum
  // CHECK-NEXT: return %[[SUM]], %[[SUM]], %[[MAXIMUM]]
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = stablehlo.reduce(%x init: %zero) applies stablehlo.maximum across dimensions = [0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Operations around a region are available in it, operations in a sibling region are not.
// CHECK-LABEL: func.func @scopes
func.func @scopes(%which: tensor<i32>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[SUM:.*]] = stablehlo.add
  // CHECK-NEXT: "stablehlo.case"
  // CHECK-NEXT:   %[[ONE:.*]] = stablehlo.multiply %[[SUM]], %[[SUM]]
  // CHECK-NEXT:   stablehlo.return %[[ONE]]
  // CHECK:        %[[OTHER:.*]] = stablehlo.multiply %[[SUM]], %[[SUM]]
  // CHECK-NEXT:   stablehlo.return %[[OTHER]]
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  %1 = "stablehlo.case"(%which) ({
    %2 = stablehlo.add %x, %x : tensor<4xf32>
    %3 = stablehlo.multiply %0, %2 : tensor<4xf32>
    stablehlo.return %3 : tensor<4xf32>
  }, {
    %2 = stablehlo.add %x, %x : tensor<4xf32>
    %3 = stablehlo.multiply %2, %0 : tensor<4xf32>
    stablehlo.return %3 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// Operations around an isolated region are not available in it.
// CHECK-LABEL: func.func @isolated
func.func @isolated(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[ONE:.*]] = stablehlo.constant
  // CHECK-NEXT: sdy.named_computation
  // CHECK-NEXT:   %[[OWN_ONE:.*]] = stablehlo.constant
  // CHECK-NEXT:   sdy.return %[[OWN_ONE]]
  %0 = stablehlo.constant dense<1.0> : tensor<4xf32>
  %1 = sdy.named_computation<"one">(%x) (%inner: tensor<4xf32>) {
    %2 = stablehlo.constant dense<1.0> : tensor<4xf32>
    sdy.return %2 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// A dead operation is erased. Its operands are not visited again.
// CHECK-LABEL: func.func @unused
func.func @unused(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: stablehlo.negate
  // CHECK-NEXT: return
  %0 = stablehlo.negate %x : tensor<4xf32>
  %1 = stablehlo.negate %0 : tensor<4xf32>
  return %x : tensor<4xf32>
}

// Two operations with equal regions are equal, also if the regions have no arguments.
// CHECK-LABEL: func.func @regions_without_arguments
// CHECK: %[[IF:.*]] = "stablehlo.if"
// CHECK-NOT: "stablehlo.if"
// CHECK: return %[[IF]], %[[IF]]
func.func @regions_without_arguments(%p: tensor<i1>, %a: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %0 = "stablehlo.if"(%p) ({
    %2 = stablehlo.negate %a : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }, {
    stablehlo.return %a : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  %1 = "stablehlo.if"(%p) ({
    %2 = stablehlo.negate %a : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }, {
    stablehlo.return %a : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}
