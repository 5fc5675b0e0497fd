// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @element_type(%x: tensor<4xi32>) {
  // expected-error @+1 {{'stablehlo.cosine' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<4xi32>'}}
  %0 = stablehlo.cosine %x : tensor<4xi32>
  return
}

// -----

func.func @unranked(%x: tensor<*xf32>) {
  // expected-error @+1 {{'stablehlo.floor' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or per-tensor integer quantized values, but got 'tensor<*xf32>'}}
  %0 = stablehlo.floor %x : tensor<*xf32>
  return
}

// -----

func.func @shapes(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.ceil' op requires compatible types for all operands and results}}
  %0 = stablehlo.ceil %x : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

// A static size must not exceed a bound.
func.func @bounds(%x: tensor<?xf32, #stablehlo.bounds<3>>) {
  // expected-error @+1 {{'stablehlo.ceil' op requires compatible types for all operands and results}}
  %0 = stablehlo.ceil %x : (tensor<?xf32, #stablehlo.bounds<3>>) -> tensor<4xf32>
  return
}

// -----

func.func @operand_count(%x: tensor<4xf32>) {
  // expected-error @+1 {{custom op 'stablehlo.ceil' 1 operands present, but expected 2}}
  %0 = stablehlo.ceil %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @result_count(%x: tensor<4xf32>) {
  // expected-error @+1 {{custom op 'stablehlo.ceil' expected single output}}
  %0 = stablehlo.ceil %x : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @negative_tolerance(%x: tensor<4xf32>) {
  // expected-error @+1 {{Negative tolerance}}
  %0 = stablehlo.log %x {result_accuracy = #stablehlo.result_accuracy<ulps = -1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
  return
}

// -----

// As in C++, the location is that of the token after the attribute.
func.func @useless_tolerance_of_a_long_line(%x: tensor<4xf32>) {
  %0 = stablehlo.log %x {result_accuracy = #stablehlo.result_accuracy<ulps = 1, mode = #stablehlo.result_accuracy_mode<HIGHEST>>
  // expected-error @+1 {{Invalid tolerances for ResultAccuracyAttr with mode HIGHEST, must be all zero.}}
  } : tensor<4xf32>
  return
}

// -----

func.func @useless_tolerance(%x: tensor<4xf32>) {
  // expected-error @+1 {{Invalid tolerances for ResultAccuracyAttr with mode HIGHEST, must be all zero.}}
  %0 = stablehlo.log %x {result_accuracy = #stablehlo.result_accuracy<ulps = 1, mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<4xf32>
  return
}
