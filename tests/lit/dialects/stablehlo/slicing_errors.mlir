// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @beyond_the_end(%x: tensor<4xf32>) {
  // expected-error @+2 {{limit index 5 is larger than dimension size 4 in dimension 0}}
  // expected-error @+1 {{'stablehlo.slice' op failed to infer returned types}}
  %0 = stablehlo.slice %x [0:5] : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @before_the_start(%x: tensor<4xf32>) {
  // expected-error @+2 {{negative start index -1 in dimension 0}}
  // expected-error @+1 {{'stablehlo.slice' op failed to infer returned types}}
  %0 = stablehlo.slice %x [-1:3] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @backwards(%x: tensor<4xf32>) {
  // expected-error @+2 {{start index 3 is larger than limit index 2 in dimension 0}}
  // expected-error @+1 {{'stablehlo.slice' op failed to infer returned types}}
  %0 = stablehlo.slice %x [3:2] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @no_step(%x: tensor<4xf32>) {
  // expected-error @+2 {{stride must be positive but got 0 in dimension 0}}
  // expected-error @+1 {{'stablehlo.slice' op failed to infer returned types}}
  %0 = stablehlo.slice %x [0:4:0] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @no_limit(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected ':'}}
  %0 = stablehlo.slice %x [0] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @list_sizes(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.slice' op failed to verify that all of {start_indices, limit_indices, strides} have same size}}
  %0 = "stablehlo.slice"(%x) <{start_indices = array<i64: 0>, limit_indices = array<i64: 4>, strides = array<i64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Each start index is followed by a comma.
func.func @comma(%x: tensor<4xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{expected ','}}
  %0 = stablehlo.dynamic_slice %x, %i sizes = [2] : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>
  return
}

// -----

func.func @index_count(%x: tensor<4xf32>, %i: tensor<i32>) {
  // expected-error @+2 {{has mismatched number of slice sizes (1) and number of start indices (2)}}
  // expected-error @+1 {{'stablehlo.dynamic_slice' op failed to infer returned types}}
  %0 = stablehlo.dynamic_slice %x, %i, %i, sizes = [2] : (tensor<4xf32>, tensor<i32>, tensor<i32>) -> tensor<2xf32>
  return
}

// -----

func.func @slice_size(%x: tensor<4xf32>, %i: tensor<i32>) {
  // expected-error @+2 {{has slice size 5 greater than dimension size 4 in dimension 0 of operand}}
  // expected-error @+1 {{'stablehlo.dynamic_slice' op failed to infer returned types}}
  %0 = stablehlo.dynamic_slice %x, %i, sizes = [5] : (tensor<4xf32>, tensor<i32>) -> tensor<5xf32>
  return
}

// -----

func.func @index_types(%x: tensor<2x4xf32>, %i: tensor<i32>, %j: tensor<i64>) {
  // expected-error @+2 {{start indices must have same element type}}
  // expected-error @+1 {{'stablehlo.dynamic_slice' op failed to infer returned types}}
  %0 = stablehlo.dynamic_slice %x, %i, %j, sizes = [1, 1] : (tensor<2x4xf32>, tensor<i32>, tensor<i64>) -> tensor<1x1xf32>
  return
}

// -----

func.func @update_size(%x: tensor<4xf32>, %u: tensor<5xf32>, %i: tensor<i32>) {
  // expected-error @+2 {{expects size at dimension 0 of update to be in range [0, 4]. Got: 5.}}
  // expected-error @+1 {{'stablehlo.dynamic_update_slice' op failed to infer returned types}}
  %0 = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<4xf32>, tensor<5xf32>, tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @range_types(%x: tensor<4xf32>, %i: tensor<1xi32>, %j: tensor<1xi64>) {
  // expected-error @+1 {{'stablehlo.real_dynamic_slice' op failed to verify that all of {start_indices, limit_indices, strides} have same type}}
  %0 = stablehlo.real_dynamic_slice %x, %i, %i, %j : (tensor<4xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi64>) -> tensor<4xf32>
  return
}
