// RUN: sdy-opt %s -split-input-file -verify-diagnostics

// The region of a named operation has an argument for each operand, so their number is fixed. A product has two inputs.
func.func @one_input(%a: tensor<4x8xf32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = linalg.matmul ins(%a : tensor<4x8xf32>) outs(%c : tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-error @below {{ods-gen generated region expects 3 args, got 2}}
  return %0 : tensor<4x8xf32>
}

// -----

// It accumulates in one output.
func.func @two_outputs(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @below {{ods-gen generated region expects 3 args, got 4}}
  %0:2 = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>, tensor<4x4xf32>
  return %0#0 : tensor<4x4xf32>
}

// -----

// A tensor is filled with one scalar.
func.func @two_scalars(%a: tensor<4xf32>, %x: f32) -> tensor<4xf32> {
  %0 = linalg.fill ins(%x, %x : f32, f32) outs(%a : tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{ods-gen generated region expects 2 args, got 3}}
  return %0 : tensor<4xf32>
}

// -----

func.func @generic_form_with_one_input(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @below {{expected the number of indexing_map (3) to be equal to the number of input/output operands (2)}}
  %0 = "linalg.matmul"(%a, %a) <{operandSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%x: f32, %y: f32):
    "linalg.yield"(%x) : (f32) -> ()
  }) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @too_few_arguments(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @below {{expected as many non-induction variable region arguments as the number of input/output operands}}
  %0 = "linalg.matmul"(%a, %a, %a) <{operandSegmentSizes = array<i32: 2, 1>}> ({
  ^bb0(%x: f32, %y: f32):
    "linalg.yield"(%x) : (f32) -> ()
  }) : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @argument_of_another_type(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @below {{expected type of bb argument #1 ('i32') to match element or self type of the corresponding operand ('f32')}}
  %0 = "linalg.matmul"(%a, %a, %a) <{operandSegmentSizes = array<i32: 2, 1>}> ({
  ^bb0(%x: f32, %y: i32, %z: f32):
    "linalg.yield"(%x) : (f32) -> ()
  }) : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
