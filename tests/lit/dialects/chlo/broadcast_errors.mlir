// RUN: sdy-opt %s -split-input-file -verify-diagnostics

// Incompatible shapes are reported at the operand.
// expected-error @+1 {{incompatible shapes for broadcasting 4 and 5}}
func.func @shapes(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  %0 = chlo.broadcast_add %x, %y : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

// expected-error @+1 {{cannot mix bounded and static dimensions in broadcast}}
func.func @bounded_and_static(%x: tensor<4xf32>, %y: tensor<?xf32, #stablehlo.bounds<4>>) {
  %0 = chlo.broadcast_add %x, %y : (tensor<4xf32>, tensor<?xf32, #stablehlo.bounds<4>>) -> tensor<4xf32>
  return
}

// -----

func.func @result(%x: tensor<2x4xf32>, %y: tensor<4xf32>) {
  // expected-error @+2 {{'chlo.broadcast_add' op inferred type(s) 'tensor<2x4xf32>' are incompatible with return type(s) of operation 'tensor<4xf32>'}}
  // expected-error @+1 {{'chlo.broadcast_add' op failed to infer returned types}}
  %0 = chlo.broadcast_add %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @elements(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @+1 {{'chlo.broadcast_add' op requires compatible element types for all operands and results}}
  %0 = chlo.broadcast_add %x, %y : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  return
}

// -----

func.func @same_elements(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @+1 {{'chlo.broadcast_subtract' op requires the same element type for all operands and results}}
  %0 = chlo.broadcast_subtract %x, %y : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  return
}

// -----

func.func @bits_of_floats(%x: tensor<4xf32>) {
  // expected-error @+1 {{operand #0 must be tensor of bool or 2/4/8/16/32/64-bit integer values, but got 'tensor<4xf32>'}}
  %0 = chlo.broadcast_and %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
