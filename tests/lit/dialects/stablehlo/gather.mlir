// RUN: sdy-opt %s | filecheck %s

// Slices of the operand's last dimension, one per index vector.
// CHECK-LABEL: func.func @rows
func.func @rows(%x: tensor<3x4x5xf32>, %i: tensor<2x6x2xi64>) {
  // CHECK: "stablehlo.gather"(%{{.*}}, %{{.*}}) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 5>}> : (tensor<3x4x5xf32>, tensor<2x6x2xi64>) -> tensor<2x6x5xf32>
  %0 = "stablehlo.gather"(%x, %i) {
    dimension_numbers = #stablehlo.gather<index_vector_dim = 2, start_index_map = [0, 1], collapsed_slice_dims = [0, 1], offset_dims = [2]>,
    slice_sizes = array<i64: 1, 1, 5>
  } : (tensor<3x4x5xf32>, tensor<2x6x2xi64>) -> tensor<2x6x5xf32>
  return
}

// If index_vector_dim is the rank of the indices, each index is a scalar.
// CHECK-LABEL: func.func @scalars
func.func @scalars(%x: tensor<3xf32>, %i: tensor<i32>) {
  // CHECK: indices_are_sorted = true
  // CHECK-SAME: -> tensor<f32>
  %0 = "stablehlo.gather"(%x, %i) <{
    dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>,
    indices_are_sorted = true, slice_sizes = array<i64: 1>
  }> : (tensor<3xf32>, tensor<i32>) -> tensor<f32>
  return
}

// CHECK-LABEL: func.func @batches
func.func @batches(%x: tensor<3x6x5xf32>, %i: tensor<2x6x2xi64>) {
  // CHECK: operand_batching_dims = [1], start_indices_batching_dims = [1]
  %0 = "stablehlo.gather"(%x, %i) <{
    dimension_numbers = #stablehlo.gather<
      offset_dims = [2], collapsed_slice_dims = [0], operand_batching_dims = [1], start_indices_batching_dims = [1],
      start_index_map = [0, 2], index_vector_dim = 2>,
    slice_sizes = array<i64: 1, 1, 3>
  }> : (tensor<3x6x5xf32>, tensor<2x6x2xi64>) -> tensor<2x6x3xf32>
  return
}

// Computed slice sizes make the result dimensions dynamic; constant ones do not.
// CHECK-LABEL: func.func @dynamic
func.func @dynamic(%x: tensor<3x5xf32>, %i: tensor<6x1xi64>, %sizes: tensor<2xi64>) {
  // CHECK: "stablehlo.dynamic_gather"(%{{.*}}, %{{.*}}, %arg2)
  // CHECK-SAME: -> tensor<6x?xf32>
  %0 = "stablehlo.dynamic_gather"(%x, %i, %sizes) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>
  }> : (tensor<3x5xf32>, tensor<6x1xi64>, tensor<2xi64>) -> tensor<6x?xf32>
  %c = stablehlo.constant dense<[1, 4]> : tensor<2xi64>
  // CHECK: "stablehlo.dynamic_gather"(%{{.*}}, %{{.*}}, %c)
  // CHECK-SAME: -> tensor<6x4xf32>
  %1 = "stablehlo.dynamic_gather"(%x, %i, %c) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>
  }> : (tensor<3x5xf32>, tensor<6x1xi64>, tensor<2xi64>) -> tensor<6x4xf32>
  return
}

// CHECK-LABEL: func.func @torch
func.func @torch(%x: tensor<5x1x5xi32>, %i: tensor<2xi32>) {
  // CHECK: "stablehlo.torch_index_select"(%{{.*}}, %{{.*}}) <{batch_dims = 0 : i64, dim = 0 : i64}>
  %0 = "stablehlo.torch_index_select"(%x, %i) {dim = 0 : i64, batch_dims = 0 : i64} : (tensor<5x1x5xi32>, tensor<2xi32>) -> tensor<2x1x5xi32>
  return
}
