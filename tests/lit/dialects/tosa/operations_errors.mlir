// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @no_tensor(%i: i32) {
  // expected-error @+1 {{operand #0 must be tensor of number values, but got 'i32'}}
  %0 = tosa.abs %i : (i32) -> tensor<6x4xf32>
  return
}

// -----

func.func @result(%a: tensor<6x4xf32>) {
  // expected-error @+1 {{result type '6x5' not broadcast compatible with broadcasted operands's shapes '6x4'}}
  %0 = tosa.abs %a : (tensor<6x4xf32>) -> tensor<6x5xf32>
  return
}

// -----

func.func @operands(%a: tensor<6x4xf32>, %b: tensor<6x5xf32>) {
  // expected-error @+1 {{operands don't have broadcast-compatible shapes}}
  %0 = tosa.add %a, %b : (tensor<6x4xf32>, tensor<6x5xf32>) -> tensor<6x4xf32>
  return
}

// -----

func.func @elements(%a: tensor<6x4xf32>) {
  // expected-error @+1 {{requires the same element type for all operands and results}}
  %0 = tosa.abs %a : (tensor<6x4xf32>) -> tensor<6x4xf16>
  return
}

// -----

func.func @signature(%a: tensor<6x4xf32>) {
  // expected-error @+1 {{invalid kind of type specified}}
  %0 = tosa.exp %a : tensor<6x4xf32>
  return
}

// -----

func.func @matrix(%a: tensor<6x4xf32>) {
  // expected-error @+1 {{operand #0 must be 3-d tensor, but got 'tensor<6x4xf32>'}}
  %0 = tosa.matmul %a, %a : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  return
}
