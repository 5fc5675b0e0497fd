// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @shapes(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error @+1 {{'stablehlo.add' op requires the same shape for all operands and results}}
  %0 = stablehlo.add %x, %y : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @elements(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @+1 {{'stablehlo.multiply' op requires compatible types for all operands and results}}
  %0 = stablehlo.multiply %x, %y : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  return
}

// -----

func.func @elements_of_add(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @+1 {{op requires the same element type for all operands and results}}
  %0 = stablehlo.add %x, %y : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  return
}

// -----

func.func @too_large_for_its_bound(%x: tensor<4xf32>, %y: tensor<?xf32, #stablehlo.bounds<3>>) {
  // expected-error @+2 {{Mismatched dimension size 4 and bound 3 in dimension 0}}
  // expected-error @+1 {{'stablehlo.add' op failed to infer returned types}}
  %0 = stablehlo.add %x, %y : (tensor<4xf32>, tensor<?xf32, #stablehlo.bounds<3>>) -> tensor<4xf32>
  return
}

// -----

func.func @half_quantized(%x: tensor<2x!quant.uniform<i8:f32, 1.0>>, %y: tensor<2xf32>) {
  // expected-error @+1 {{expects  all operands and results to be either quantized or non-quantized}}
  %0 = stablehlo.add %x, %y : (tensor<2x!quant.uniform<i8:f32, 1.0>>, tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @storage(%x: tensor<2x!quant.uniform<i8:f32, 1.0>>, %y: tensor<2x!quant.uniform<i16:f32, 1.0>>) {
  // expected-error @+1 {{mismatched operands and result quantization storage types}}
  %0 = stablehlo.add %x, %y : (tensor<2x!quant.uniform<i8:f32, 1.0>>, tensor<2x!quant.uniform<i16:f32, 1.0>>) -> tensor<2x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @lost_axis(%x: tensor<2x!quant.uniform<i8:f32:0, {1.0,2.0}>>, %y: tensor<2x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error @+1 {{result is not per_axis quantized but lhs or rhs are}}
  %0 = stablehlo.add %x, %y : (tensor<2x!quant.uniform<i8:f32:0, {1.0,2.0}>>, tensor<2x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @axis_out_of_nowhere(%x: tensor<2x!quant.uniform<i8:f32, 1.0>>, %y: tensor<2x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error @+1 {{result per_axis quantized but none from rhs and lhs are per_axis quantized}}
  %0 = stablehlo.add %x, %y : (tensor<2x!quant.uniform<i8:f32, 1.0>>, tensor<2x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x!quant.uniform<i8:f32:0, {1.0,2.0}>>
  return
}

// -----

func.func @complex_of_what(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error @+1 {{custom op 'stablehlo.complex' expected tensor with complex element type}}
  %0 = stablehlo.complex %x, %y : tensor<4xf32>
  return
}

// -----

func.func @complex_parts(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @+1 {{'stablehlo.complex' op requires the same element type for all operands}}
  %0 = stablehlo.complex %x, %y : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xcomplex<f32>>
  return
}
