// RUN: sdy-opt %s | filecheck %s

// CHECK-LABEL: func.func @numbers
func.func @numbers(%x: tensor<2x4xf32>, %y: tensor<4xf32>) {
  // CHECK: chlo.broadcast_add %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %add = chlo.broadcast_add %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK: chlo.broadcast_atan2 %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %atan2 = chlo.broadcast_atan2 %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK: chlo.broadcast_divide %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %divide = chlo.broadcast_divide %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK: chlo.broadcast_maximum %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %maximum = chlo.broadcast_maximum %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK: chlo.broadcast_minimum %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %minimum = chlo.broadcast_minimum %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK: chlo.broadcast_multiply %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %multiply = chlo.broadcast_multiply %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK: chlo.broadcast_next_after %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %next_after = chlo.broadcast_next_after %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK: chlo.broadcast_polygamma %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %polygamma = chlo.broadcast_polygamma %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK: chlo.broadcast_power %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %power = chlo.broadcast_power %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK: chlo.broadcast_remainder %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %remainder = chlo.broadcast_remainder %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK: chlo.broadcast_shift_left %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %shift_left = chlo.broadcast_shift_left %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK: chlo.broadcast_shift_right_arithmetic %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %shift_right_arithmetic = chlo.broadcast_shift_right_arithmetic %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK: chlo.broadcast_shift_right_logical %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %shift_right_logical = chlo.broadcast_shift_right_logical %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK: chlo.broadcast_subtract %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %subtract = chlo.broadcast_subtract %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK: chlo.broadcast_zeta %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %zeta = chlo.broadcast_zeta %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK: chlo.broadcast_complex %{{.*}}, %{{.*}} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xcomplex<f32>>
  %complex = chlo.broadcast_complex %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xcomplex<f32>>
  return
}

// CHECK-LABEL: func.func @bits
func.func @bits(%x: tensor<4xi32>, %y: tensor<i32>) {
  // CHECK: chlo.broadcast_and %{{.*}}, %{{.*}} : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %0 = chlo.broadcast_and %x, %y : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK: chlo.broadcast_or %{{.*}}, %{{.*}} : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %1 = chlo.broadcast_or %x, %y : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK: chlo.broadcast_xor %{{.*}}, %{{.*}} : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %2 = chlo.broadcast_xor %x, %y : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  return
}

// The operand of lower rank may map to other dimensions than the last dimensions.
// CHECK-LABEL: func.func @dimensions
func.func @dimensions(%x: tensor<2x4xf32>, %y: tensor<2xf32>) {
  // CHECK: {broadcast_dimensions = array<i64: 0>} : (tensor<2x4xf32>, tensor<2xf32>) -> tensor<2x4xf32>
  %0 = chlo.broadcast_add %x, %y {broadcast_dimensions = array<i64: 0>} : (tensor<2x4xf32>, tensor<2xf32>) -> tensor<2x4xf32>
  return
}

// A dynamic size gets the size of the other operand; a bound is kept in the result.
// CHECK-LABEL: func.func @unknown_sizes
func.func @unknown_sizes(%x: tensor<2x1xf32>, %y: tensor<?xf32>, %z: tensor<?xf32, #stablehlo.bounds<4>>) {
  // CHECK: -> tensor<2x?xf32>
  %0 = chlo.broadcast_add %x, %y : (tensor<2x1xf32>, tensor<?xf32>) -> tensor<2x?xf32>
  // CHECK: -> tensor<2x?xf32, #stablehlo.bounds<?, 4>>
  %1 = chlo.broadcast_add %x, %z : (tensor<2x1xf32>, tensor<?xf32, #stablehlo.bounds<4>>) -> tensor<2x?xf32, #stablehlo.bounds<?, 4>>
  return
}

// A broadcast dimension out of range leaves the result type undetermined: any type is accepted. C++ crashes.
// CHECK-LABEL: func.func @dimension_out_of_range
func.func @dimension_out_of_range(%x: tensor<4xf32>, %y: tensor<2x4xf32>) {
  // CHECK: chlo.broadcast_add %arg0, %arg1 {broadcast_dimensions = array<i64: -5>}
  %0 = chlo.broadcast_add %x, %y {broadcast_dimensions = array<i64: -5>} : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: chlo.broadcast_add %arg0, %arg1 {broadcast_dimensions = array<i64: 7>}
  %1 = chlo.broadcast_add %x, %y {broadcast_dimensions = array<i64: 7>} : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
