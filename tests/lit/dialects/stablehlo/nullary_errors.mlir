// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @no_elements() {
  // expected-error @+1 {{custom op 'stablehlo.constant' invalid kind of attribute specified}}
  %0 = stablehlo.constant 1 : i32
  return
}

// -----

func.func @unknown_size() {
  // expected-error @+1 {{elements literal type must have static shape}}
  %0 = stablehlo.constant dense<1> : tensor<?xi32>
  return
}

// -----

func.func @other_type() {
  // expected-error @+2 {{'stablehlo.constant' op inferred type(s) 'tensor<2xi32>' are incompatible with return type(s) of operation 'tensor<2xi64>'}}
  // expected-error @+1 {{'stablehlo.constant' op failed to infer returned types}}
  %0 = "stablehlo.constant"() <{value = dense<1> : tensor<2xi32>}> : () -> tensor<2xi64>
  return
}

// -----

func.func @scalar_iota() {
  // expected-error @+1 {{does not support scalars.}}
  %0 = stablehlo.iota dim = 0 : tensor<i32>
  return
}

// -----

func.func @iota_dimension() {
  // expected-error @+1 {{iota dimension cannot go beyond the output rank.}}
  %0 = stablehlo.iota dim = 1 : tensor<4xi32>
  return
}

// -----

func.func @negative_dimension() {
  // expected-error @+1 {{'stablehlo.iota' op attribute 'iota_dimension' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %0 = stablehlo.iota dim = -1 : tensor<4xi32>
  return
}

// -----

func.func @iota_shape() {
  %s = stablehlo.constant dense<5> : tensor<1xi32>
  // expected-error @+1 {{output shape [5] is incompatible with return type of operation 'tensor<4xf32>'}}
  %0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi32>) -> tensor<4xf32>
  return
}

// -----

func.func @no_token() {
  // expected-error @+1 {{'stablehlo.create_token' op result #0 must be token, but got 'tensor<i32>'}}
  %0 = stablehlo.create_token : tensor<i32>
  return
}
