// RUN: sdy-opt %s --load-plugin=%S/toy.py -split-input-file -verify-diagnostics

toy.func @wrong_transpose(%a: tensor<2x3xf64>) {
  // expected-error @+1 {{'toy.transpose' op expected result shape to be a transpose of the input}}
  %0 = toy.transpose(%a : tensor<2x3xf64>) to tensor<2x3xf64>
  toy.return
}

// -----

// expected-note @+1 {{function defined here}}
toy.func @wrong_return(%a: tensor<2xf64>) -> tensor<3xf64> {
  // expected-error @+1 {{'toy.return' op does not match the result type of the function}}
  toy.return %a : tensor<2xf64>
}

// -----

func.func @outside(%a: tensor<2xf64>) {
  // expected-error @+1 {{'toy.return' op expects parent op 'toy.func'}}
  toy.return %a : tensor<2xf64>
}

// -----

toy.func @no_such_function(%a: tensor<2xf64>) {
  // expected-error @+1 {{'toy.generic_call' op 'f' is not a function}}
  %0 = toy.generic_call @f(%a) : (tensor<2xf64>) -> tensor<2xf64>
  toy.return
}

// -----

toy.func @outside_of_struct(%s: !toy.struct<tensor<2xf64>>) {
  // expected-error @+1 {{index should be within the range of the input struct type}}
  %0 = toy.struct_access %s[1] : !toy.struct<tensor<2xf64>> -> tensor<2xf64>
  toy.return
}

// -----

toy.func @integers(%a: tensor<2xi32>) {
  // expected-error @+1 {{operand #0 must be tensor of 64-bit float values or struct, but got 'tensor<2xi32>'}}
  toy.print %a : tensor<2xi32>
  toy.return
}
