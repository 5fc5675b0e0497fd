// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @scalars(%x: tensor<f32>) {
  // expected-error @+2 {{rank-0 values cannot be concatenated}}
  // expected-error @+1 {{'stablehlo.concatenate' op failed to infer returned types}}
  %0 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<f32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @along_what(%x: tensor<4xf32>) {
  // expected-error @+2 {{dimension 1 is out-of-bounds for input rank 1}}
  // expected-error @+1 {{'stablehlo.concatenate' op failed to infer returned types}}
  %0 = stablehlo.concatenate %x, dim = 1 : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @other_sizes(%x: tensor<2x4xf32>, %y: tensor<2x5xf32>) {
  // expected-error @+2 {{shapes of operand (0) and (1) are not compatible at non-concat index 1: (2, 4) != (2, 5)}}
  // expected-error @+1 {{'stablehlo.concatenate' op failed to infer returned types}}
  %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<2x4xf32>, tensor<2x5xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @sum_of_sizes(%x: tensor<4xf32>) {
  // expected-error @+2 {{'stablehlo.concatenate' op inferred type(s) 'tensor<8xf32>' are incompatible with return type(s) of operation 'tensor<9xf32>'}}
  // expected-error @+1 {{'stablehlo.concatenate' op failed to infer returned types}}
  %0 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<9xf32>
  return
}

// -----

func.func @less_than_nothing(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error @+2 {{Padding result in negative size for dimension 0}}
  // expected-error @+1 {{'stablehlo.pad' op failed to infer returned types}}
  %0 = stablehlo.pad %x, %v, low = [-3], high = [-2], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @negative_interior(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error @+2 {{Interior padding cannot be negative: -1}}
  // expected-error @+1 {{'stablehlo.pad' op failed to infer returned types}}
  %0 = stablehlo.pad %x, %v, low = [0], high = [0], interior = [-1] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @padding_count(%x: tensor<4xf32>, %v: tensor<f32>, %n: tensor<2xi32>) {
  // expected-error @+1 {{padding operands size (2) must match operand rank (1)}}
  %0 = stablehlo.dynamic_pad %x, %v, %n, %n, %n : (tensor<4xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<4xf32>
  return
}

// -----

func.func @padded_size(%x: tensor<4xf32>, %v: tensor<f32>) {
  %n = stablehlo.constant dense<1> : tensor<1xi32>
  // expected-error @+1 {{expected output dimension at index 0 to equal 9, but got 8}}
  %0 = stablehlo.dynamic_pad %x, %v, %n, %n, %n : (tensor<4xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<8xf32>
  return
}
