// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @scalar(%x: tensor<f32>) {
  // expected-error @+2 {{operand's rank must be at least 1}}
  // expected-error @+1 {{'chlo.top_k' op failed to infer returned types}}
  %0:2 = chlo.top_k(%x, k = 1) : tensor<f32> -> (tensor<1xf32>, tensor<1xi32>)
  return
}

// -----

func.func @too_many(%x: tensor<3x4xf32>) {
  // expected-error @+2 {{operand's last dimension must be at least 5}}
  // expected-error @+1 {{'chlo.top_k' op failed to infer returned types}}
  %0:2 = chlo.top_k(%x, k = 5) : tensor<3x4xf32> -> (tensor<3x5xf32>, tensor<3x5xi32>)
  return
}

// -----

func.func @indices(%x: tensor<4xf32>) {
  // expected-error @+2 {{'chlo.top_k' op inferred type(s) 'tensor<2xf32>', 'tensor<2xi32>' are incompatible with return type(s) of operation 'tensor<2xf32>', 'tensor<2xi64>'}}
  // expected-error @+1 {{'chlo.top_k' op failed to infer returned types}}
  %0:2 = chlo.top_k(%x, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi64>)
  return
}

// -----

func.func @unknown_parameter(%x: tensor<3x4xf32>) {
  // expected-error @+1 {{custom op 'chlo.top_k' expected 'is_stable'}}
  %0:2 = chlo.top_k(%x, k = 2, stable = false) : tensor<3x4xf32> -> (tensor<3x2xf32>, tensor<3x2xi32>)
  return
}

// -----

func.func @no_truth(%x: tensor<3x4xf32>) {
  // expected-error @+1 {{custom op 'chlo.top_k' 'chlo.top_k' op attribute 'is_stable' failed to satisfy constraint: bool attribute}}
  %0:2 = chlo.top_k(%x, k = 2) {is_stable} : tensor<3x4xf32> -> (tensor<3x2xf32>, tensor<3x2xi32>)
  return
}
