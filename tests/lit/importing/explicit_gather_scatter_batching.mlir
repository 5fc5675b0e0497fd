// RUN: sdy-opt %s -sdy-explicit-gather-scatter-batching -split-input-file | filecheck %s

// Row i is indexed by row i: the row number is removed, and both dimensions become batching dimensions.
// CHECK-LABEL: func.func @gather_in_rows
func.func @gather_in_rows(%a: tensor<4x8xf32>, %column: tensor<4x1xi32>) -> tensor<4x1xf32> {
  // CHECK-NEXT: "stablehlo.gather"(%arg0, %arg1)
  // CHECK-SAME: offset_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>
  // CHECK-SAME: indices_are_sorted = true
  // CHECK-SAME: {test.mark = 1 : i32}
  %row = stablehlo.iota dim = 0 : tensor<4x1xi32>
  %at = stablehlo.concatenate %row, %column, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %0 = "stablehlo.gather"(%a, %at) <{dimension_numbers = #stablehlo.gather<
    offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 1>, indices_are_sorted = true}> {test.mark = 1 : i32}
    : (tensor<4x8xf32>, tensor<4x2xi32>) -> tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}

// -----

// The other two indices are concatenated again.
// CHECK-LABEL: func.func @two_indices_left
func.func @two_indices_left(%a: tensor<4x8x8xf32>, %b: tensor<4x1xi32>, %c: tensor<4x1xi32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[REST:.*]] = stablehlo.concatenate %arg1, %arg2, dim = 1
  // CHECK-NEXT: "stablehlo.gather"(%arg0, %[[REST]])
  // CHECK-SAME: collapsed_slice_dims = [1, 2], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1, 2]
  %row = stablehlo.iota dim = 0 : tensor<4x1xi32>
  %at = stablehlo.concatenate %b, %row, %c, dim = 1
    : (tensor<4x1xi32>, tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x3xi32>
  %0 = "stablehlo.gather"(%a, %at) <{dimension_numbers = #stablehlo.gather<
    collapsed_slice_dims = [0, 1, 2], start_index_map = [1, 0, 2], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 1, 1>}> : (tensor<4x8x8xf32>, tensor<4x3xi32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Indices that are not a concatenate of single components are sliced.
// CHECK-LABEL: func.func @cuts_out
func.func @cuts_out(%a: tensor<4x8x8xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[AT:.*]] = stablehlo.iota dim = 0
  // CHECK-NEXT: %[[LEFT:.*]] = stablehlo.slice %[[AT]] [0:4, 0:1]
  // CHECK-NEXT: %[[RIGHT:.*]] = stablehlo.slice %[[AT]] [0:4, 2:3]
  // CHECK-NEXT: %[[REST:.*]] = stablehlo.concatenate %[[LEFT]], %[[RIGHT]], dim = 1
  // CHECK-NEXT: "stablehlo.gather"(%arg0, %[[REST]])
  %at = stablehlo.iota dim = 0 : tensor<4x3xi32>
  %0 = "stablehlo.gather"(%a, %at) <{dimension_numbers = #stablehlo.gather<
    collapsed_slice_dims = [0, 1, 2], start_index_map = [1, 0, 2], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 1, 1>}> : (tensor<4x8x8xf32>, tensor<4x3xi32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// The iota is recognized through reshapes, broadcasts, clamps and selects.
// CHECK-LABEL: func.func @looks_through
func.func @looks_through(%a: tensor<4x8xf32>, %column: tensor<4x1xi32>, %low: tensor<4x1xi32>, %which: tensor<4x1xi1>) -> tensor<4xf32> {
  // CHECK-NEXT: "stablehlo.gather"(%arg0, %arg1)
  %iota = stablehlo.iota dim = 0 : tensor<4xi32>
  %moved = stablehlo.reshape %iota : (tensor<4xi32>) -> tensor<4x1xi32>
  %limited = stablehlo.clamp %low, %moved, %low : tensor<4x1xi32>
  %row = stablehlo.select %which, %limited, %column : tensor<4x1xi1>, tensor<4x1xi32>
  %at = stablehlo.concatenate %row, %column, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %0 = "stablehlo.gather"(%a, %at) <{dimension_numbers = #stablehlo.gather<
    collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 1>}> : (tensor<4x8xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// The same for a scatter.
// CHECK-LABEL: func.func @scatter_in_rows
func.func @scatter_in_rows(%a: tensor<4x8xf32>, %column: tensor<4x1xi32>, %update: tensor<4xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: "stablehlo.scatter"(%arg0, %arg1, %arg2)
  // CHECK-SAME: inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>
  // CHECK-SAME: unique_indices = true
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT:   stablehlo.add
  %row = stablehlo.iota dim = 0 : tensor<4x1xi32>
  %at = stablehlo.concatenate %row, %column, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %0 = "stablehlo.scatter"(%a, %at, %update) <{scatter_dimension_numbers = #stablehlo.scatter<
    inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>,
    unique_indices = true}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<4x2xi32>, tensor<4xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// An iota along another dimension is not the row number.
// CHECK-LABEL: func.func @other_dimension
func.func @other_dimension(%a: tensor<4x8xf32>, %column: tensor<4x1xi32>) -> tensor<4xf32> {
  // CHECK: stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>
  %row = stablehlo.iota dim = 1 : tensor<4x1xi32>
  %at = stablehlo.concatenate %row, %column, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %0 = "stablehlo.gather"(%a, %at) <{dimension_numbers = #stablehlo.gather<
    collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 1>}> : (tensor<4x8xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Operand and indices must have the same number of rows.
// CHECK-LABEL: func.func @more_rows
func.func @more_rows(%a: tensor<5x8xf32>, %column: tensor<4x1xi32>) -> tensor<4xf32> {
  // CHECK: stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>
  %row = stablehlo.iota dim = 0 : tensor<4x1xi32>
  %at = stablehlo.concatenate %row, %column, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %0 = "stablehlo.gather"(%a, %at) <{dimension_numbers = #stablehlo.gather<
    collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 1>}> : (tensor<5x8xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// The only index cannot be removed.
// CHECK-LABEL: func.func @only_rows
func.func @only_rows(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>
  %row = stablehlo.iota dim = 0 : tensor<4x1xi32>
  %0 = "stablehlo.gather"(%a, %row) <{dimension_numbers = #stablehlo.gather<
    offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 8>}> : (tensor<4x8xf32>, tensor<4x1xi32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// A reshape that merges dimensions does not keep the rows: the indices here are 0, 0, 1, 1.
// CHECK-LABEL: func.func @merged_rows
func.func @merged_rows(%a: tensor<4x8xf32>, %column: tensor<4x1xi32>) -> tensor<4xf32> {
  // CHECK: stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>
  %iota = stablehlo.iota dim = 0 : tensor<2x2xi32>
  %half = stablehlo.reshape %iota : (tensor<2x2xi32>) -> tensor<4x1xi32>
  %at = stablehlo.concatenate %half, %column, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %0 = "stablehlo.gather"(%a, %at) <{dimension_numbers = #stablehlo.gather<
    collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 1>}> : (tensor<4x8xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A reshape that only adds a dimension keeps the rows.
// CHECK-LABEL: func.func @kept_rows
func.func @kept_rows(%a: tensor<4x8xf32>, %column: tensor<4x2x1xi32>) -> tensor<4x2xf32> {
  // CHECK-NEXT: "stablehlo.gather"(%arg0, %arg1)
  %iota = stablehlo.iota dim = 0 : tensor<4x2xi32>
  %row = stablehlo.reshape %iota : (tensor<4x2xi32>) -> tensor<4x2x1xi32>
  %at = stablehlo.concatenate %row, %column, dim = 2
    : (tensor<4x2x1xi32>, tensor<4x2x1xi32>) -> tensor<4x2x2xi32>
  %0 = "stablehlo.gather"(%a, %at) <{dimension_numbers = #stablehlo.gather<
    collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>,
    slice_sizes = array<i64: 1, 1>}> : (tensor<4x8xf32>, tensor<4x2x2xi32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

// A broadcast along dimension 1 numbers the columns.
// CHECK-LABEL: func.func @column_number
func.func @column_number(%a: tensor<4x8xf32>, %other: tensor<4x4x1xi32>) -> tensor<4x4xf32> {
  // CHECK: stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>
  %iota = stablehlo.iota dim = 0 : tensor<4xi32>
  %column = stablehlo.broadcast_in_dim %iota, dims = [1] : (tensor<4xi32>) -> tensor<4x4x1xi32>
  %at = stablehlo.concatenate %column, %other, dim = 2
    : (tensor<4x4x1xi32>, tensor<4x4x1xi32>) -> tensor<4x4x2xi32>
  %0 = "stablehlo.gather"(%a, %at) <{dimension_numbers = #stablehlo.gather<
    collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>,
    slice_sizes = array<i64: 1, 1>}> : (tensor<4x8xf32>, tensor<4x4x2xi32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// The first input has two components, so the row number is component 2, and not component 1.
// CHECK-LABEL: func.func @after_two_components
func.func @after_two_components(%a: tensor<4x8x8xf32>, %two: tensor<4x2xi32>) -> tensor<4xf32> {
  // CHECK: stablehlo.gather<collapsed_slice_dims = [0, 1, 2], start_index_map = [1, 0, 2], index_vector_dim = 1>
  %row = stablehlo.iota dim = 0 : tensor<4x1xi32>
  %at = stablehlo.concatenate %two, %row, dim = 1 : (tensor<4x2xi32>, tensor<4x1xi32>) -> tensor<4x3xi32>
  %0 = "stablehlo.gather"(%a, %at) <{dimension_numbers = #stablehlo.gather<
    collapsed_slice_dims = [0, 1, 2], start_index_map = [1, 0, 2], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 1, 1>}> : (tensor<4x8x8xf32>, tensor<4x3xi32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// The number of a single row is 0, the only element of the iota.
// CHECK-LABEL: func.func @single_row
func.func @single_row(%a: tensor<1x8xf32>, %column: tensor<1x1xi32>) -> tensor<1xf32> {
  // CHECK-NEXT: "stablehlo.gather"(%arg0, %arg1)
  %iota = stablehlo.iota dim = 0 : tensor<1xi32>
  %row = stablehlo.broadcast_in_dim %iota, dims = [1] : (tensor<1xi32>) -> tensor<1x1xi32>
  %at = stablehlo.concatenate %row, %column, dim = 1 : (tensor<1x1xi32>, tensor<1x1xi32>) -> tensor<1x2xi32>
  %0 = "stablehlo.gather"(%a, %at) <{dimension_numbers = #stablehlo.gather<
    collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 1>}> : (tensor<1x8xf32>, tensor<1x2xi32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
