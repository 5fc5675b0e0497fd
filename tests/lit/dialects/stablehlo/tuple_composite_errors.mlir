// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @no_tuple(%x: tensor<4xf32>) {
  // expected-error @+1 {{custom op 'stablehlo.tuple' expected tuple type}}
  %0 = stablehlo.tuple %x : tensor<4xf32>
  return
}

// -----

func.func @tuple_size(%x: tensor<4xf32>) {
  // expected-error @+1 {{custom op 'stablehlo.tuple' number of operands and types do not match: got 1 operands and 2 types}}
  %0 = stablehlo.tuple %x : tuple<tensor<4xf32>, tensor<4xf32>>
  return
}

// -----

func.func @element_number(%x: tuple<tensor<4xf32>>) {
  // expected-error @+2 {{index 1 is out of bounds of operand with size 1}}
  // expected-error @+1 {{'stablehlo.get_tuple_element' op failed to infer returned types}}
  %0 = stablehlo.get_tuple_element %x[1] : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  return
}

// -----

func.func @composite_name(%x: tensor<4xf32>) {
  // expected-error @+1 {{name must be a valid namespaced op name, i.e. it must match the following regular expression: ^[a-zA-Z][a-zA-Z0-9_]*([.][a-zA-Z0-9_$]+)+$ e.g. "my_namespace.my_op"}}
  %0 = stablehlo.composite "op" %x {decomposition = @f} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @unknown_function(%x: tensor<4xf32>) {
  // expected-error @+1 {{'f' does not reference a valid function}}
  %0 = stablehlo.composite "my.op" %x {decomposition = @f} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @other_function(%x: tensor<4xf32>) {
  // expected-error @+1 {{has 1 result(s), but decomposition has 0}}
  %0 = stablehlo.composite "my.op" %x {decomposition = @other_function} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
