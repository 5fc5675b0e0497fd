// RUN: sdy-opt %s -split-input-file -sdy-op-priority-propagate | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// The elementwise operation propagates in an earlier round than the dot, whose axes conflict.
// CHECK-LABEL: func.func @elementwise_first
// CHECK-SAME: (%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"x", ?}]>})
// CHECK-SAME: -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"x"}]>})
// CHECK: %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"x", ?}]>]>}
// CHECK: %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"x", ?}]>]>}
func.func @elementwise_first(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}, %b: tensor<8x8xf32>)
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"x"}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.negate %0 : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// A move between memories propagates like an elementwise operation, and so before the reverse above it.
// CHECK-LABEL: func.func @move_between_memories
// CHECK: %2 = stablehlo.add %0, %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?}]>]>}
func.func @move_between_memories(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>},
                                 %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"x"}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.reverse %b, dims = [0] : tensor<8x8xf32>
  %1 = stablehlo.custom_call @MoveToDevice(%a) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.add %0, %1 : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Dynamic slices propagate backward as well, in a later round.
// CHECK-LABEL: func.func @slice
// CHECK-SAME: (%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}]>}, %arg1: tensor<i32>)
// CHECK-SAME: -> (tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>})
// CHECK: %0 = stablehlo.dynamic_slice %arg0, %arg1, %arg1, sizes = [16, 4] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?}]>]>}
func.func @slice(%a: tensor<16x8xf32>, %i: tensor<i32>) -> (tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}) {
  %0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [16, 4] : (tensor<16x8xf32>, tensor<i32>, tensor<i32>) -> tensor<16x4xf32>
  return %0 : tensor<16x4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Shardings propagate by the custom rule of a barrier in the rounds of operations that are not pass-through.
// CHECK-LABEL: func.func @rule_on_barrier
// CHECK: sdy.propagation_barrier %arg0 allowed_direction=BACKWARD {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>]>
func.func @rule_on_barrier(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = sdy.propagation_barrier %a allowed_direction=BACKWARD {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}, custom>} : tensor<8xf32>
  %1 = stablehlo.negate %a : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// An operation whose operands have no other uses comes before one whose operand has; a scalar may have several.
// CHECK-LABEL: func.func @scalar_with_two_uses
// CHECK: %2 = stablehlo.add %0, %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?}]>]>}
func.func @scalar_with_two_uses(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>},
                                %b: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"x"}]>}, %i: tensor<i32>)
    -> (tensor<16x4xf32>, tensor<16x4xf32>) {
  %0 = stablehlo.negate %b : tensor<16x4xf32>
  %1 = stablehlo.dynamic_slice %a, %i, %i, sizes = [16, 4] : (tensor<16x8xf32>, tensor<i32>, tensor<i32>) -> tensor<16x4xf32>
  %2 = stablehlo.add %0, %1 : tensor<16x4xf32>
  return %2, %b : tensor<16x4xf32>, tensor<16x4xf32>
}
