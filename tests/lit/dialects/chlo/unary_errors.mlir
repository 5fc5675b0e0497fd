// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @integers(%x: tensor<4xi32>) {
  // expected-error @+1 {{'chlo.erf' op operand #0 must be tensor of 4/6/8/16/32/64-bit float values, but got 'tensor<4xi32>'}}
  %0 = chlo.erf %x : tensor<4xi32> -> tensor<4xi32>
  return
}

// -----

func.func @no_tensor(%x: f32) {
  // expected-error @+1 {{custom op 'chlo.erf' invalid kind of type specified}}
  %0 = chlo.erf %x : f32 -> f32
  return
}

// -----

func.func @result(%x: tensor<4xf32>) {
  // expected-error @+1 {{'chlo.tan' op requires compatible types for all operands and results}}
  %0 = chlo.tan %x : tensor<4xf32> -> tensor<4xbf16>
  return
}

// -----

func.func @predicate_of_another_shape(%x: tensor<4xf32>) {
  // expected-error @+1 {{all non-scalar operands/results must have the same shape and base type}}
  %0 = chlo.is_inf %x : tensor<4xf32> -> tensor<5xi1>
  return
}

// -----

func.func @missing_result_type(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected '->'}}
  %0 = chlo.erf %x : tensor<4xf32>
  return
}

// -----

// expected-error @+1 {{unknown chlo attribute}}
func.func @attribute() attributes {a = #chlo.mystery<1>} {
  return
}
