// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @ranks(%x: tensor<2x3x4xf32>, %y: tensor<4xf32>) {
  // expected-error @+1 {{expected both lhs/rhs ranks to be either 1 or 2}}
  %0 = stablehlo.dot %x, %y : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @result_shape(%x: tensor<3x4xf32>, %y: tensor<4x5xf32>) {
  // expected-error @+1 {{inferred shape '[3, 5]' is incompatible with return type of operation 'tensor<3x6xf32>'}}
  %0 = stablehlo.dot %x, %y : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x6xf32>
  return
}

// -----

func.func @too_precise(%x: tensor<3x4xf32>, %y: tensor<4x5xf32>) {
  // expected-error @+1 {{expects precision config to be empty or have <= 2 elements, got 3}}
  %0 = stablehlo.dot %x, %y, precision = [HIGH, HIGH, HIGH] : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @no_such_precision(%x: tensor<3x4xf32>, %y: tensor<4x5xf32>) {
  // expected-error @+2 {{expected ::mlir::stablehlo::Precision to be one of: DEFAULT, HIGH, HIGHEST}}
  // expected-error @+1 {{failed to parse StableHLO_PrecisionAttr parameter 'value'}}
  %0 = stablehlo.dot %x, %y, precision = [LOW] : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @unpaired_batch(%x: tensor<2x3x4xf32>, %y: tensor<2x4x5xf32>) {
  // expected-error @+1 {{lhs and rhs should have the same number of batching dimensions}}
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [], contracting_dims = [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @matched_and_summed(%x: tensor<2x3x4xf32>, %y: tensor<2x4x5xf32>) {
  // expected-error @+1 {{has duplicated dimension from lhs_batching_dimensions and lhs_contracting_dimensions: 0}}
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [0] x [0] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @no_such_dimension(%x: tensor<2x3x4xf32>, %y: tensor<2x4x5xf32>) {
  // expected-error @+1 {{rhs_contracting_dimensions value: 3 is out of range: [0, 3)}}
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [3] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @sizes(%x: tensor<2x3x4xf32>, %y: tensor<2x4x5xf32>) {
  // expected-error @+1 {{contracting dimension sizes must match for lhs/rhs}}
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @batch_above_its_bound(%x: tensor<?x3x4xf32, #stablehlo.bounds<1, ?, ?>>, %y: tensor<2x4x5xf32>) {
  // expected-error @+1 {{Mismatched dimension size 2 and bound 1 in dimension 0}}
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1]
    : (tensor<?x3x4xf32, #stablehlo.bounds<1, ?, ?>>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @open_list(%x: tensor<3x4xf32>, %y: tensor<4x5xf32>) {
  // expected-error @+2 {{custom op 'stablehlo.dot_general' expected integer value}}
  // expected-error @+1 {{expected ']'}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1, x [0] : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @no_such_machine() attributes {
  // expected-error @+1 {{dot algorithm not known to be supported on any hardware: {lhs:'f32', rhs:'f32', accum:'f32', lhs_components:1, rhs_components:1, primitive_ops:2, imprecise:0}}}
  algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 2, allow_imprecise_accumulation = false>
} {
  return
}

// -----

func.func @precise_algorithm(%x: tensor<3x4xf32>, %y: tensor<4x5xf32>) {
  // expected-error @+1 {{must specify DEFAULT precision config when algorithm is set.}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0], precision = [HIGH], algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @zero_point(%x: tensor<3x4xf32>, %y: tensor<4x5x!quant.uniform<i8:f32, 1.0:3>>) {
  // expected-error @+1 {{Zero point of rhs should be 0}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<3x4xf32>, tensor<4x5x!quant.uniform<i8:f32, 1.0:3>>) -> tensor<3x5xf32>
  return
}

// -----

func.func @only_lhs_is_quantized(%x: tensor<3x4x!quant.uniform<i8:f32, 1.0>>, %y: tensor<4x5xf32>) {
  // expected-error @+1 {{rhs should be quantized for quantized operations and is_quantized(lhs)=is_quantized(result) should hold}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<3x4x!quant.uniform<i8:f32, 1.0>>, tensor<4x5xf32>) -> tensor<3x5xf32>
  return
}

// -----

// expected-error @+2 {{expected one of: `lhs_batching_dimensions`, `rhs_batching_dimensions`, `lhs_contracting_dimensions`, `rhs_contracting_dimensions`}}
// expected-error @+1 {{failed parsing dot dimension numbers attribute}}
func.func @unknown_entry() attributes {dims = #stablehlo.dot<batching = [0]>} {
  return
}

// -----

// expected-error @+2 {{duplicated `lhs_batching_dimensions` entry}}
// expected-error @+1 {{failed parsing dot dimension numbers attribute}}
func.func @entry_twice() attributes {dims = #stablehlo.dot<lhs_batching_dimensions = [0], lhs_batching_dimensions = [0]>} {
  return
}
