// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @rank(%x: tensor<3x4x5xf32>, %i: tensor<2x6x2xi64>) {
  // expected-error @+2 {{offset_dims size (1) plus collapse_slice_dims size (1) plus operand_batching_dims size (0) is not equal to operand rank (3)}}
  // expected-error @+1 {{'stablehlo.gather' op failed to infer returned types}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 5>}> : (tensor<3x4x5xf32>, tensor<2x6x2xi64>) -> tensor<2x6x5xf32>
  return
}

// -----

func.func @no_such_dimension_of_vectors(%x: tensor<3x4x5xf32>, %i: tensor<2x6x2xi64>) {
  // expected-error @+2 {{Expects index_vector_dim to be in range [0, rank-of('start_indices')] i.e. [0, 3]. got: 4.}}
  // expected-error @+1 {{'stablehlo.gather' op failed to infer returned types}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 4>, slice_sizes = array<i64: 1, 1, 5>}> : (tensor<3x4x5xf32>, tensor<2x6x2xi64>) -> tensor<2x6x5xf32>
  return
}

// -----

func.func @size_of_vectors(%x: tensor<3x4x5xf32>, %i: tensor<2x6x2xi64>) {
  // expected-error @+2 {{start_index_map size (1) is not equal to size of index dimension (2) of start_indices (2)}}
  // expected-error @+1 {{'stablehlo.gather' op failed to infer returned types}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 5>}> : (tensor<3x4x5xf32>, tensor<2x6x2xi64>) -> tensor<2x6x5xf32>
  return
}

// -----

func.func @unsorted(%x: tensor<3x4x5xf32>, %i: tensor<2x6x2xi64>) {
  // expected-error @+2 {{expects collapsed_slice_dims to be sorted, got: [1, 0]}}
  // expected-error @+1 {{'stablehlo.gather' op failed to infer returned types}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1, 0], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 5>}> : (tensor<3x4x5xf32>, tensor<2x6x2xi64>) -> tensor<2x6x5xf32>
  return
}

// -----

func.func @out_of_bounds(%x: tensor<3x4x5xf32>, %i: tensor<2x6x2xi64>) {
  // expected-error @+2 {{Expects each element of collapsed_slice_dims to be in range [0, rank-of('operand')) i.e. [0, 3). got: 7.}}
  // expected-error @+1 {{'stablehlo.gather' op failed to infer returned types}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 7], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 5>}> : (tensor<3x4x5xf32>, tensor<2x6x2xi64>) -> tensor<2x6x5xf32>
  return
}

// -----

func.func @offsets_beyond_the_result(%x: tensor<3x4x5xf32>, %i: tensor<2x6x2xi64>) {
  // expected-error @+2 {{Expects each element of offset_dims to be in range [0, implied-result-rank) i.e. [0, 3). got: 3.}}
  // expected-error @+1 {{'stablehlo.gather' op failed to infer returned types}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [3], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 5>}> : (tensor<3x4x5xf32>, tensor<2x6x2xi64>) -> tensor<2x6x5xf32>
  return
}

// -----

func.func @slice_of_a_collapsed_dimension(%x: tensor<3x4x5xf32>, %i: tensor<2x6x2xi64>) {
  // expected-error @+2 {{Expects that for each dim in collapsed_slice_dims, slice_sizes[dim] should be <= 1, but got 2}}
  // expected-error @+1 {{'stablehlo.gather' op failed to infer returned types}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 2, 1, 5>}> : (tensor<3x4x5xf32>, tensor<2x6x2xi64>) -> tensor<2x6x5xf32>
  return
}

// -----

func.func @slice_too_large(%x: tensor<3x4x5xf32>, %i: tensor<2x6x2xi64>) {
  // expected-error @+2 {{slice size (6) is out of bounds for operand dimension (5) at index 2}}
  // expected-error @+1 {{'stablehlo.gather' op failed to infer returned types}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 6>}> : (tensor<3x4x5xf32>, tensor<2x6x2xi64>) -> tensor<2x6x5xf32>
  return
}

// -----

func.func @batch_sizes(%x: tensor<3x4x5xf32>, %i: tensor<2x6x2xi64>) {
  // expected-error @+2 {{operand_batching_dims[0] and start_indices_batching_dims[0] must have compatible sizes, but got 4 and 6}}
  // expected-error @+1 {{'stablehlo.gather' op failed to infer returned types}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], operand_batching_dims = [1], start_indices_batching_dims = [1], start_index_map = [0, 2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 5>}> : (tensor<3x4x5xf32>, tensor<2x6x2xi64>) -> tensor<2x6x5xf32>
  return
}

// -----

func.func @result_type(%x: tensor<3x4x5xf32>, %i: tensor<2x6x2xi64>) {
  // expected-error @+2 {{'stablehlo.gather' op inferred type(s) 'tensor<2x6x5xf32>' are incompatible with return type(s) of operation 'tensor<2x6x4xf32>'}}
  // expected-error @+1 {{'stablehlo.gather' op failed to infer returned types}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 5>}> : (tensor<3x4x5xf32>, tensor<2x6x2xi64>) -> tensor<2x6x4xf32>
  return
}

// -----

func.func @result_element(%x: tensor<3x4x5xf32>, %i: tensor<2x6x2xi64>) {
  // expected-error @+1 {{'stablehlo.gather' op failed to verify that all of {operand, result} have same element type}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 5>}> : (tensor<3x4x5xf32>, tensor<2x6x2xi64>) -> tensor<2x6x5xi32>
  return
}

// -----

func.func @dynamic_slice_too_large(%x: tensor<3x5xf32>, %i: tensor<6x1xi64>) {
  %c = stablehlo.constant dense<[1, 6]> : tensor<2xi64>
  // expected-error @+2 {{slice size (6) is out of bounds for operand dimension (5) at index 1}}
  // expected-error @+1 {{'stablehlo.dynamic_gather' op failed to infer returned types}}
  %0 = "stablehlo.dynamic_gather"(%x, %i, %c) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<3x5xf32>, tensor<6x1xi64>, tensor<2xi64>) -> tensor<6x?xf32>
  return
}
