// RUN: sdy-opt %s -split-input-file -sdy-user-priority-propagate | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// A dimension of lower priority does not get an axis that is already in use.
// CHECK-LABEL: func.func @later
// CHECK-SAME: (%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"x"}]>})
// CHECK-SAME: -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"x", ?}]>})
// CHECK: %0 = stablehlo.add %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"x", ?}]>]>}
func.func @later(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p1, {?}]>},
                 %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"x"}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.add %a, %b : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Before the round of its priority, the axis of a dimension does not propagate to the value from elsewhere.
// CHECK-LABEL: func.func @waits
// CHECK-SAME: (%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y", ?}]>})
// CHECK-SAME: -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"x", ?}]>})
// CHECK: %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"x", ?}]>]>}
func.func @waits(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p2, {"y", ?}p1]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"x", ?}]>]>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// The dimension of a sharding constraint waits for its priority, too: the axis of the argument comes first.
// CHECK-LABEL: func.func @constraint
// CHECK: %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"x", ?}]>]>}
// CHECK-NEXT: %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {?}]>
func.func @constraint(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"x"}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.negate %a : tensor<8x8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}p1, {?}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Dead operations are erased before the round of their priority.
// CHECK-LABEL: func.func @unused
// CHECK-NEXT: return %arg0
func.func @unused(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}p1]>]>} : tensor<8xf32>
  return %a : tensor<8xf32>
}

// -----

// The shardings of a nested module refer to its own meshes.
func.func @main() {
  return
}
module @nested {
  sdy.mesh @own = <["y"=2]>
  // CHECK-LABEL: func.func @in_nested_module
  // CHECK-SAME: (%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@own, [{"y"}]>})
  func.func @in_nested_module(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@own, [{"y"}p1]>}) {
    return
  }
}
