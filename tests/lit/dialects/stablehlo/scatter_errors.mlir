// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @rank_of_updates(%x: tensor<3x4x5xf32>, %i: tensor<2x6x2xi64>, %u: tensor<2x6xf32>) {
  // expected-error @+1 {{expects updates tensor must be of rank 3 ( == rank-of('scatter_indices') - 1 + size-of('update_window_dims'), where 'scatter_indices' is expanded by a trailing 1 dimension if 'index_vector_dim' == rank-of('scatter_indices')), but got 2.}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    stablehlo.return %new : tensor<f32>
  }) : (tensor<3x4x5xf32>, tensor<2x6x2xi64>, tensor<2x6xf32>) -> tensor<3x4x5xf32>
  return
}

// -----

func.func @rank_of_operand(%x: tensor<3x4x5xf32>, %i: tensor<2x6x2xi64>, %u: tensor<2x6x5xf32>) {
  // expected-error @+1 {{Expects rank-of operand to match size-of('update_window_dims') + size-of('inserted_window_dims') + size-of('input_batching_dims') i.e. 2 but got 3.}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    stablehlo.return %new : tensor<f32>
  }) : (tensor<3x4x5xf32>, tensor<2x6x2xi64>, tensor<2x6x5xf32>) -> tensor<3x4x5xf32>
  return
}

// -----

func.func @unsorted(%x: tensor<3x4x5xf32>, %i: tensor<2x6x2xi64>, %u: tensor<2x6x5xf32>) {
  // expected-error @+1 {{Expects inserted_window_dims to be sorted; got: [1, 0].}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1, 0], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    stablehlo.return %new : tensor<f32>
  }) : (tensor<3x4x5xf32>, tensor<2x6x2xi64>, tensor<2x6x5xf32>) -> tensor<3x4x5xf32>
  return
}

// -----

func.func @size_of_vectors(%x: tensor<3x4x5xf32>, %i: tensor<2x6x2xi64>, %u: tensor<2x6x5xf32>) {
  // expected-error @+1 {{Scatter op has 1 elements in scatter_dims_to_operand_dims and the bound of dimension index_vector_dim=2 of scatter_indices is 2. These two numbers must be equal.}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    stablehlo.return %new : tensor<f32>
  }) : (tensor<3x4x5xf32>, tensor<2x6x2xi64>, tensor<2x6x5xf32>) -> tensor<3x4x5xf32>
  return
}

// -----

func.func @update_too_large(%x: tensor<3x4x5xf32>, %i: tensor<2x6x2xi64>, %u: tensor<2x6x6xf32>) {
  // expected-error @+1 {{expects bounds of the window dimensions of updates to not exceed the bounds of the corresponding dimensions of operand. For dimension 2, updates bound is 6, operand bound is 5.}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    stablehlo.return %new : tensor<f32>
  }) : (tensor<3x4x5xf32>, tensor<2x6x2xi64>, tensor<2x6x6xf32>) -> tensor<3x4x5xf32>
  return
}

// -----

func.func @too_many_updates(%x: tensor<3x4x5xf32>, %i: tensor<2x6x2xi64>, %u: tensor<2x7x5xf32>) {
  // expected-error @+1 {{expects bounds of the scatter dimensions of updates to be same as the bounds of the corresponding dimensions of scatter indices. For scatter dimension 1, updates bound is 7 , scatter_indices bound is 6.}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    stablehlo.return %new : tensor<f32>
  }) : (tensor<3x4x5xf32>, tensor<2x6x2xi64>, tensor<2x7x5xf32>) -> tensor<3x4x5xf32>
  return
}

// -----

func.func @body_of_one(%x: tensor<3x4x5xf32>, %i: tensor<2x6x2xi64>, %u: tensor<2x6x5xf32>) {
  // expected-error @+1 {{Reduction-region must take 2 parameters, but takes 1 parameter(s)}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>}> ({
  ^bb0(%new: tensor<f32>):
    stablehlo.return %new : tensor<f32>
  }) : (tensor<3x4x5xf32>, tensor<2x6x2xi64>, tensor<2x6x5xf32>) -> tensor<3x4x5xf32>
  return
}

// -----

func.func @no_body(%x: tensor<3x4x5xf32>, %i: tensor<2x6x2xi64>, %u: tensor<2x6x5xf32>) {
  // expected-error @+1 {{'stablehlo.scatter' op region #0 ('update_computation') failed to verify constraint: region with 1 blocks}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>}> ({}) : (tensor<3x4x5xf32>, tensor<2x6x2xi64>, tensor<2x6x5xf32>) -> tensor<3x4x5xf32>
  return
}

// -----

func.func @result_type(%x: tensor<3x4x5xf32>, %i: tensor<2x6x2xi64>, %u: tensor<2x6x5xf32>) {
  // expected-error @+2 {{'stablehlo.scatter' op inferred type(s) 'tensor<3x4x5xf32>' are incompatible with return type(s) of operation 'tensor<3x4x6xf32>'}}
  // expected-error @+1 {{'stablehlo.scatter' op failed to infer returned types}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    stablehlo.return %new : tensor<f32>
  }) : (tensor<3x4x5xf32>, tensor<2x6x2xi64>, tensor<2x6x5xf32>) -> tensor<3x4x6xf32>
  return
}

// -----

func.func @indices(%x: tensor<3x4x5xf32>, %i: tensor<2x6x2xf32>, %u: tensor<2x6x5xf32>) {
  // expected-error @+1 {{operand #1 must be ranked tensor of integer or index values, but got 'tensor<2x6x2xf32>'}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    stablehlo.return %new : tensor<f32>
  }) : (tensor<3x4x5xf32>, tensor<2x6x2xf32>, tensor<2x6x5xf32>) -> tensor<3x4x5xf32>
  return
}

// -----

func.func @select_gives_no_truth(%x: tensor<8x8xf32>, %source: tensor<4x4xf32>, %init: tensor<f32>) {
  // expected-error @+1 {{expects the return-type of select-region to be tensor<i1>, but got: 'tensor<f32>'}}
  %0 = "stablehlo.select_and_scatter"(%x, %source, %init) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8x8xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @no_window(%x: tensor<8x8xf32>, %source: tensor<4x4xf32>, %init: tensor<f32>) {
  // expected-error @+1 {{expects window-dimensions size == operand rank, but got window-dimensions size: 0 and operand-type: 'tensor<8x8xf32>' with rank = 2.}}
  %0 = "stablehlo.select_and_scatter"(%x, %source, %init) <{window_strides = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8x8xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @source_shape(%x: tensor<8x8xf32>, %source: tensor<5x5xf32>, %init: tensor<f32>) {
  // expected-error @+1 {{expects source-type to be 'tensor<4x4xf32>', but got'tensor<5x5xf32>'}}
  %0 = "stablehlo.select_and_scatter"(%x, %source, %init) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8x8xf32>, tensor<5x5xf32>, tensor<f32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @padding_shape(%x: tensor<8x8xf32>, %source: tensor<4x4xf32>, %init: tensor<f32>) {
  // expected-error @+1 {{expects the shape of padding-attribute to be {N, 2}, but got {4}.}}
  %0 = "stablehlo.select_and_scatter"(%x, %source, %init) <{window_dimensions = array<i64: 2, 2>, padding = dense<1> : tensor<4xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8x8xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<8x8xf32>
  return
}
