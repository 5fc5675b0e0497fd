// RUN: sdy-opt %s --pass-pipeline='builtin.module(sdy-simplify-hlo{compiler=tpu})' | filecheck %s

// The second dimension is along the rows, and the rows of the indices and updates are in another order than those of
// the operand.
// CHECK-LABEL: func.func @transposed
// CHECK:         %[[ZEROS:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<8x64x4xf32>
// CHECK-NEXT:    %[[I:.*]] = stablehlo.reshape %arg0 : (tensor<4x8x1xi32>) -> tensor<4x8xi32>
// CHECK-NEXT:    %[[INDICES:.*]] = stablehlo.broadcast_in_dim %[[I]], dims = [2, 0] : (tensor<4x8xi32>) -> tensor<8x64x4xi32>
// CHECK-NEXT:    %[[IOTA:.*]] = stablehlo.iota dim = 1 : tensor<8x64x4xi32>
// CHECK-NEXT:    %[[MASK:.*]] = stablehlo.compare EQ, %[[INDICES]], %[[IOTA]] : (tensor<8x64x4xi32>, tensor<8x64x4xi32>) -> tensor<8x64x4xi1>
// CHECK-NEXT:    %[[U:.*]] = stablehlo.reshape %arg1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %[[UPDATES:.*]] = stablehlo.broadcast_in_dim %[[U]], dims = [2, 0] : (tensor<4x8xf32>) -> tensor<8x64x4xf32>
// CHECK-NEXT:    %[[R:.*]] = stablehlo.select %[[MASK]], %[[UPDATES]], %[[ZEROS]] : tensor<8x64x4xi1>, tensor<8x64x4xf32>
// CHECK-NEXT:    return %[[R]]
func.func @transposed(%i: tensor<4x8x1xi32>, %u: tensor<4x8xf32>) -> tensor<8x64x4xf32> {
  %zeros = stablehlo.constant dense<0.0> : tensor<8x64x4xf32>
  %0 = "stablehlo.scatter"(%zeros, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1],
      input_batching_dims = [0, 2], scatter_indices_batching_dims = [1, 0], scatter_dims_to_operand_dims = [1],
      index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8x64x4xf32>, tensor<4x8x1xi32>, tensor<4x8xf32>) -> tensor<8x64x4xf32>
  return %0 : tensor<8x64x4xf32>
}

// Two elements of a row: it stays.
// CHECK-LABEL: func.func @two_elements
// CHECK:         "stablehlo.scatter"
func.func @two_elements(%i: tensor<8x2x1xi32>, %u: tensor<8x2xf32>) -> tensor<8x64xf32> {
  %zeros = stablehlo.constant dense<0.0> : tensor<8x64xf32>
  %0 = "stablehlo.scatter"(%zeros, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1],
      input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1],
      index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8x64xf32>, tensor<8x2x1xi32>, tensor<8x2xf32>) -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}

// So does what has another dimension than the rows, ...
// CHECK-LABEL: func.func @of_a_window
// CHECK:         "stablehlo.scatter"
func.func @of_a_window(%i: tensor<8x1xi32>, %u: tensor<8x1xf32>) -> tensor<8x64x1xf32> {
  %zeros = stablehlo.constant dense<0.0> : tensor<8x64x1xf32>
  %0 = "stablehlo.scatter"(%zeros, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
      inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0],
      scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8x64x1xf32>, tensor<8x1xi32>, tensor<8x1xf32>) -> tensor<8x64x1xf32>
  return %0 : tensor<8x64x1xf32>
}

// ... adds to ones, ...
// CHECK-LABEL: func.func @ones
// CHECK:         "stablehlo.scatter"
func.func @ones(%i: tensor<8x1xi32>, %u: tensor<8xf32>) -> tensor<8x64xf32> {
  %ones = stablehlo.constant dense<1.0> : tensor<8x64xf32>
  %0 = "stablehlo.scatter"(%ones, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1],
      input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1],
      index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8x64xf32>, tensor<8x1xi32>, tensor<8xf32>) -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}

// ... multiplies, ...
// CHECK-LABEL: func.func @product
// CHECK:         "stablehlo.scatter"
func.func @product(%i: tensor<8x1xi32>, %u: tensor<8xf32>) -> tensor<8x64xf32> {
  %zeros = stablehlo.constant dense<0.0> : tensor<8x64xf32>
  %0 = "stablehlo.scatter"(%zeros, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1],
      input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1],
      index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.multiply %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8x64xf32>, tensor<8x1xi32>, tensor<8xf32>) -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}

// ... or has an attribute, such as a sharding.
// CHECK-LABEL: func.func @with_attribute
// CHECK:         "stablehlo.scatter"
func.func @with_attribute(%i: tensor<8x1xi32>, %u: tensor<8xf32>) -> tensor<8x64xf32> {
  %zeros = stablehlo.constant dense<0.0> : tensor<8x64xf32>
  %0 = "stablehlo.scatter"(%zeros, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1],
      input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1],
      index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {mhlo.frontend_attributes = {a = "b"}} : (tensor<8x64xf32>, tensor<8x1xi32>, tensor<8xf32>) -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}
