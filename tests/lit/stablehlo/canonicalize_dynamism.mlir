// RUN: sdy-opt %s -stablehlo-canonicalize-dynamism | filecheck %s

// CHECK-LABEL: func.func @constant_operands(
// CHECK-SAME:    %[[X:.*]]: tensor<4x8xf32>, %[[Z:.*]]: tensor<f32>, %[[I:.*]]: tensor<1x8x8x3xf32>, %[[K:.*]]: tensor<3x3x3x4xf32>, %[[G:.*]]: tensor<3x1xi32>)
// CHECK-NEXT:    %[[R0:.*]] = stablehlo.reshape %[[X]] : (tensor<4x8xf32>) -> tensor<8x4xf32>
// CHECK-NEXT:    %[[R1:.*]] = stablehlo.broadcast_in_dim %[[Z]], dims = [] : (tensor<f32>) -> tensor<8x4xf32>
// CHECK-NEXT:    %[[R2:.*]] = stablehlo.iota dim = 1 : tensor<8x4xi32>
// CHECK-NEXT:    %[[R3:.*]] = stablehlo.pad %[[X]], %[[Z]], low = [8, 4], high = [1, 1], interior = [0, 0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<13x13xf32>
// CHECK-NEXT:    %[[R4:.*]] = stablehlo.slice %[[X]] [0:4, 0:8] : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %[[R5:.*]] = stablehlo.convolution(%[[I]], %[[K]])
// CHECK-SAME:      pad = {{.*}}[1, 1], [0, 1]
// CHECK-NEXT:    %[[R6:.*]] = "stablehlo.gather"(%[[X]], %[[G]])
// CHECK-SAME:      slice_sizes = array<i64: 1, 1>
// CHECK-NEXT:    %[[R7:.*]] = stablehlo.custom_call @foo(%[[X]]) {jax.name = "c", operand_layouts = [dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<4x8xf32>) -> tensor<8x4xf32>
// CHECK-NEXT:    stablehlo.custom_call @use(%[[R0]], %[[R1]], %[[R2]], %[[R3]], %[[R4]], %[[R5]], %[[R6]], %[[R7]])
func.func @constant_operands(%x: tensor<4x8xf32>, %z: tensor<f32>, %i: tensor<1x8x8x3xf32>, %k: tensor<3x3x3x4xf32>, %g: tensor<3x1xi32>) {
  %shape = stablehlo.constant dense<[8, 4]> : tensor<2xi32>
  %ones = stablehlo.constant dense<1> : tensor<2xi32>
  %zeros = stablehlo.constant dense<0> : tensor<2xi32>
  %limits = stablehlo.constant dense<[4, 8]> : tensor<2xi32>
  %pads = stablehlo.constant dense<[[1, 1], [0, 1]]> : tensor<2x2xi32>
  %0 = stablehlo.dynamic_reshape %x, %shape : (tensor<4x8xf32>, tensor<2xi32>) -> tensor<8x4xf32>
  %1 = stablehlo.dynamic_broadcast_in_dim %z, %shape, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<8x4xf32>
  %2 = stablehlo.dynamic_iota %shape, dim = 1 : (tensor<2xi32>) -> tensor<8x4xi32>
  %3 = stablehlo.dynamic_pad %x, %z, %shape, %ones, %zeros : (tensor<4x8xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<13x13xf32>
  %4 = stablehlo.real_dynamic_slice %x, %zeros, %limits, %ones : (tensor<4x8xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<4x8xf32>
  %5 = "stablehlo.dynamic_conv"(%i, %k, %pads) {batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>} : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>, tensor<2x2xi32>) -> tensor<1x8x7x4xf32>
  %6 = "stablehlo.dynamic_gather"(%x, %g, %ones) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>} : (tensor<4x8xf32>, tensor<3x1xi32>, tensor<2xi32>) -> tensor<3x1xf32>
  %7 = stablehlo.custom_call @foo(%x, %shape) {indices_of_shape_operands = dense<1> : tensor<1xi64>, jax.name = "c", operand_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<0> : tensor<1xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<4x8xf32>, tensor<2xi32>) -> tensor<8x4xf32>
  stablehlo.custom_call @use(%0, %1, %2, %3, %4, %5, %6, %7) {has_side_effect = true} : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xi32>, tensor<13x13xf32>, tensor<4x8xf32>, tensor<1x8x7x4xf32>, tensor<3x1xf32>, tensor<8x4xf32>) -> ()
  return
}

// A slice of constant sizes at variable starts.
// CHECK-LABEL: func.func @dynamic_slice(
// CHECK-SAME:    %[[X:.*]]: tensor<4x8xf32>, %[[N:.*]]: tensor<2xi32>)
// CHECK-NEXT:    %[[A:.*]] = stablehlo.slice %[[N]] [0:1] : (tensor<2xi32>) -> tensor<1xi32>
// CHECK-NEXT:    %[[B:.*]] = stablehlo.reshape %[[A]] : (tensor<1xi32>) -> tensor<i32>
// CHECK-NEXT:    %[[C:.*]] = stablehlo.slice %[[N]] [1:2] : (tensor<2xi32>) -> tensor<1xi32>
// CHECK-NEXT:    %[[D:.*]] = stablehlo.reshape %[[C]] : (tensor<1xi32>) -> tensor<i32>
// CHECK-NEXT:    stablehlo.dynamic_slice %[[X]], %[[B]], %[[D]], sizes = [1, 2] {jax.name = "s"} : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
func.func @dynamic_slice(%x: tensor<4x8xf32>, %n: tensor<2xi32>) -> tensor<1x2xf32> {
  %sizes = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %ones = stablehlo.constant dense<1> : tensor<2xi32>
  %limits = stablehlo.add %sizes, %n : tensor<2xi32>
  %0 = stablehlo.real_dynamic_slice %x, %n, %limits, %ones {jax.name = "s"} : (tensor<4x8xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}

// Dynamic types and variable operands stay.
// CHECK-LABEL: func.func @stays(
// CHECK:         stablehlo.dynamic_reshape
// CHECK-NEXT:    stablehlo.dynamic_broadcast_in_dim
// CHECK-NEXT:    stablehlo.dynamic_iota
// CHECK-NEXT:    stablehlo.custom_call @foo(%{{.*}}, %{{.*}})
func.func @stays(%x: tensor<?xf32>, %n: tensor<1xi32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<?xi32>, tensor<?xf32>) {
  %c = stablehlo.constant dense<4> : tensor<1xi32>
  %0 = stablehlo.dynamic_reshape %x, %n : (tensor<?xf32>, tensor<1xi32>) -> tensor<4xf32>
  %1 = stablehlo.dynamic_broadcast_in_dim %x, %c, dims = [0] : (tensor<?xf32>, tensor<1xi32>) -> tensor<4xf32>
  %2 = stablehlo.dynamic_iota %c, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
  %3 = stablehlo.custom_call @foo(%x, %c) {indices_of_shape_operands = dense<1> : tensor<1xi64>} : (tensor<?xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<?xi32>, tensor<?xf32>
}
