// RUN: sdy-opt %s -stablehlo-refine-shapes -split-input-file -verify-diagnostics

// expected-error @+1 {{must have no more than one function or a `main` function to clearly identify which function will be refined}}
module {
  func.func @a() { return }
  func.func @b() { return }
}

// -----

// expected-error @+1 {{has no function}}
module {
}

// -----

// expected-error @+1 {{'func.func' op must have exactly one block}}
func.func @blocks() {
  cf.br ^a
^a:
  return
}

// -----

// expected-error @+1 {{Failed to refine entry function}}
func.func @main(%x: tensor<4xf32>, %y: tensor<8xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %four = stablehlo.constant dense<4> : tensor<i32>
  %eight = stablehlo.constant dense<8> : tensor<i32>
  %0 = call @callee(%four) : (tensor<i32>) -> tensor<?xf32>
  %1 = call @callee(%eight) : (tensor<i32>) -> tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}
// expected-error @+1 {{'func.func' op refined with incompatible refinement keys:}}
func.func private @callee(%n: tensor<i32>) -> tensor<?xf32> {
  %0 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %1 = stablehlo.dynamic_iota %0, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

// expected-error @+1 {{Failed to refine entry function}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @recursive(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// expected-error @+1 {{'func.func' op Function recursive is being refined recursively}}
func.func private @recursive(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @recursive(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @custom_calls(%x: tensor<4xf32>) {
  %c = stablehlo.constant dense<3> : tensor<1xi32>
  // expected-error @+1 {{indices_of_shape_operands: number of elements (2) must be equal to the number of operation results (1)}}
  %0 = stablehlo.custom_call @count(%x, %c) {has_side_effect = true, indices_of_shape_operands = dense<1> : tensor<2xi64>} : (tensor<4xf32>, tensor<1xi32>) -> tensor<?xf32>
  // expected-error @+1 {{indices_of_shape_operands: must have rank = 1}}
  %1 = stablehlo.custom_call @rank(%x, %c) {has_side_effect = true, indices_of_shape_operands = dense<1> : tensor<1x1xi64>} : (tensor<4xf32>, tensor<1xi32>) -> tensor<?xf32>
  // expected-error @+1 {{indices_of_shape_operands: must have i64 element type}}
  %2 = stablehlo.custom_call @element(%x, %c) {has_side_effect = true, indices_of_shape_operands = dense<1> : tensor<1xi32>} : (tensor<4xf32>, tensor<1xi32>) -> tensor<?xf32>
  // expected-error @+1 {{indices_of_shape_operands: index #0 (2) must be within bounds for operation operands (from 0 to 2)}}
  %3 = stablehlo.custom_call @bounds(%x, %c) {has_side_effect = true, indices_of_shape_operands = dense<2> : tensor<1xi64>} : (tensor<4xf32>, tensor<1xi32>) -> tensor<?xf32>
  // expected-error @+1 {{indices_of_shape_operands: refinement #0 ([3]) must be compatible with operation result #0 ('tensor<4xf32>')}}
  %4 = stablehlo.custom_call @shape(%x, %c) {has_side_effect = true, indices_of_shape_operands = dense<1> : tensor<1xi64>} : (tensor<4xf32>, tensor<1xi32>) -> tensor<4xf32>
  return
}
