// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @real_part_is_wider(%x: tensor<4xcomplex<f32>>) {
  // expected-error @+2 {{'stablehlo.abs' op inferred type(s) 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<4xf64>'}}
  // expected-error @+1 {{'stablehlo.abs' op failed to infer returned types}}
  %0 = stablehlo.abs %x : (tensor<4xcomplex<f32>>) -> tensor<4xf64>
  return
}

// -----

func.func @convert_shape(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.convert' op requires the same shape for all operands and results}}
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<5xi32>
  return
}

// -----

func.func @bitcast_complex(%x: tensor<4xf32>) {
  // expected-error @+1 {{cannot convert between real and complex types, but got: 'tensor<4xf32>' and 'tensor<4xcomplex<f32>>'}}
  %0 = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4xcomplex<f32>>
  return
}

// -----

func.func @bitcast_rank(%x: tensor<4xf32>) {
  // expected-error @+1 {{rank of smaller element type (1) should be 1 more than rank of larger element type (1), but 1 != 1 + 1.}}
  %0 = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4xf16>
  return
}

// -----

func.func @bitcast_width(%x: tensor<4xf32>) {
  // expected-error @+1 {{requires compatible bit widths. Got: 'tensor<4xf32>' and 'tensor<4x3xf16>', but 16 * 3 != 32.}}
  %0 = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4x3xf16>
  return
}

// -----

func.func @bitcast_shape(%x: tensor<4xf32>) {
  // expected-error @+1 {{operand and result shapes must match except for the innermost dimension of the shape with the smaller element type. Got: 'tensor<4xf32>' and 'tensor<5xi32>'.}}
  %0 = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<5xi32>
  return
}

// -----

func.func @format(%x: tensor<4xf32>) {
  // expected-error @+1 {{custom op 'stablehlo.reduce_precision' expected exponent mantissa in format e#m#, saw e5}}
  %0 = stablehlo.reduce_precision %x, format = e5 : tensor<4xf32>
  return
}

// -----

func.func @no_exponent(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.reduce_precision' op attribute 'exponent_bits' failed to satisfy constraint: 32-bit signless integer attribute whose value is positive}}
  %0 = stablehlo.reduce_precision %x, format = e0m1 : tensor<4xf32>
  return
}

// -----

func.func @expressed_type(%x: tensor<4xf32>) {
  // expected-error @+1 {{Expressed type of result expected to be 'f32', but got 'bf16'}}
  %0 = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:bf16, 1.0>>
  return
}
