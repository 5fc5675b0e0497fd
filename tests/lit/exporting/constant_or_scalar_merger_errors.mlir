// RUN: sdy-opt %s -split-input-file -sdy-constant-or-scalar-merger -verify-diagnostics

// The blocks of a region count as one, but one branch does not dominate the other.
func.func @branches(%p: i1) -> tensor<f32> {
  cf.cond_br %p, ^yes, ^no
^yes:
  // expected-note @+1 {{operand defined here (op in the same region)}}
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  return %0 : tensor<f32>
^no:
  %1 = stablehlo.constant dense<1.0> : tensor<f32>
  // expected-error @+1 {{operand #0 does not dominate this use}}
  return %1 : tensor<f32>
}

// -----

// Equal dense values of different types are merged, because result types are not compared.
func.func @read_as_two_types() -> (tensor<2xi8>, tensor<2x!quant.uniform<i8:f32, 5.0e-01>>) {
  %0 = stablehlo.constant() <{value = dense<1> : tensor<2xi8>}> : () -> tensor<2xi8>
  %1 = stablehlo.constant() <{value = dense<1> : tensor<2xi8>}> : () -> tensor<2x!quant.uniform<i8:f32, 5.0e-01>>
  // expected-error @+1 {{type of return operand 1 ('tensor<2xi8>') doesn't match function result type ('tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>') in function @read_as_two_types}}
  return %0, %1 : tensor<2xi8>, tensor<2x!quant.uniform<i8:f32, 5.0e-01>>
}
