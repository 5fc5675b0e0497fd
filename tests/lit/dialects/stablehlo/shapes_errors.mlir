// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @element_count(%x: tensor<4xf32>) {
  // expected-error @+1 {{number of output elements (3) doesn't match expected number of elements (4)}}
  %0 = stablehlo.reshape %x : (tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @rank_of_shape(%x: tensor<4xf32>, %s: tensor<2xi32>) {
  // expected-error @+1 {{result should have a rank equal to the number of elements in output_shape}}
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<4xf32>, tensor<2xi32>) -> tensor<?xf32>
  return
}

// -----

func.func @no_permutation(%x: tensor<2x4xf32>) {
  // expected-error @+2 {{attribute permutation must be a permutation of [0, 1] but got 0, 0}}
  // expected-error @+1 {{'stablehlo.transpose' op failed to infer returned types}}
  %0 = stablehlo.transpose %x, dims = [0, 0] : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @permuted_shape(%x: tensor<2x4xf32>) {
  // expected-error @+2 {{'stablehlo.transpose' op inferred type(s) 'tensor<4x2xf32>' are incompatible with return type(s) of operation 'tensor<2x4xf32>'}}
  // expected-error @+1 {{'stablehlo.transpose' op failed to infer returned types}}
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @no_list(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{expected '['}}
  %0 = stablehlo.transpose %x, dims = 0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @reversed_twice(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{dimensions should be unique. Got: 1, 1}}
  %0 = stablehlo.reverse %x, dims = [1, 1] : tensor<2x4xf32>
  return
}

// -----

func.func @reversed_outside(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{all dimensions should be between [0, 2). Got dimension: 2.}}
  %0 = stablehlo.reverse %x, dims = [2] : tensor<2x4xf32>
  return
}

// -----

func.func @size_of_what(%x: tensor<2x4xf32>) {
  // expected-error @+2 {{requires dimension attribute in range [0, 2); found (2)}}
  // expected-error @+1 {{'stablehlo.get_dimension_size' op failed to infer returned types}}
  %0 = stablehlo.get_dimension_size %x, dim = 2 : (tensor<2x4xf32>) -> tensor<i32>
  return
}

// -----

// A dimension may be set to a smaller size, not to a larger one.
func.func @set_to_more(%x: tensor<2x4xf32>) {
  %n = stablehlo.constant dense<2> : tensor<i32>
  // expected-error @+2 {{'stablehlo.set_dimension_size' op inferred type(s) 'tensor<2x4xf32>' are incompatible with return type(s) of operation 'tensor<3x4xf32>'}}
  // expected-error @+1 {{'stablehlo.set_dimension_size' op failed to infer returned types}}
  %0 = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<2x4xf32>, tensor<i32>) -> tensor<3x4xf32>
  return
}
