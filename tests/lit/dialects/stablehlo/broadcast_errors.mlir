// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @dimension_count(%x: tensor<4xf32>) {
  // expected-error @+1 {{broadcast_dimensions size (2) does not match operand rank (1)}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @repeated(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{broadcast_dimensions should not have duplicates}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @out_of_range(%x: tensor<4xf32>) {
  // expected-error @+1 {{broadcast_dimensions contains invalid value 2 for result with rank 2}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [2] : (tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @sizes(%x: tensor<4xf32>) {
  // expected-error @+1 {{size of operand dimension 0 (4) is not equal to 1 or size of result dimension 0 (2)}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @static(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.broadcast_in_dim' op result #0 must be statically shaped or single bounded dimension tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got 'tensor<?x4xf32>'}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<4xf32>) -> tensor<?x4xf32>
  return
}

// -----

// A constant shape operand must match the result shape.
func.func @shape(%x: tensor<4xf32>) {
  %s = stablehlo.constant dense<[3, 4]> : tensor<2xi32>
  // expected-error @+1 {{output shape [3, 4] is incompatible with return type of operation 'tensor<2x4xf32>'}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [1] : (tensor<4xf32>, tensor<2xi32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @hints(%x: tensor<4xf32>, %s: tensor<2xi32>) {
  // expected-error @+1 {{duplicate expansion hint for at least one operand dimension}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [1] {known_expanding_dimensions = array<i64: 0>, known_nonexpanding_dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<2xi32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @negative_size(%x: tensor<4xf32>) {
  // expected-error @+2 {{Broadcast with negative dimension size -2}}
  // expected-error @+1 {{'stablehlo.broadcast' op failed to infer returned types}}
  %0 = stablehlo.broadcast %x, sizes = [-2] : (tensor<4xf32>) -> tensor<2x4xf32>
  return
}
