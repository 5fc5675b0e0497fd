// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @no_such_feature(%x: tensor<2x3x4xf32>, %v: tensor<3xf32>) {
  // expected-error @+2 {{expects featureIndex to be smaller than the rank of multi-dimensional operands; got featureIndex 3, and rank 3.}}
  // expected-error @+1 {{'stablehlo.batch_norm_training' op failed to infer returned types}}
  %0:3 = "stablehlo.batch_norm_training"(%x, %v, %v) {epsilon = 1.0e-3 : f32, feature_index = 3 : i64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @feature_count(%x: tensor<2x3x4xf32>, %v: tensor<3xf32>) {
  // expected-error @+2 {{expects the size of single-dimensional operands to be compatible with feature count, but the size of single-dimensional operands is 3 and the feature count is 4.}}
  // expected-error @+1 {{'stablehlo.batch_norm_training' op failed to infer returned types}}
  %0:3 = "stablehlo.batch_norm_training"(%x, %v, %v) {epsilon = 1.0e-3 : f32, feature_index = 2 : i64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @vectors(%x: tensor<2x3x4xf32>, %v: tensor<3xf32>, %w: tensor<4xf32>) {
  // expected-error @+2 {{expects single-dimensional operands to have compatible shapes.}}
  // expected-error @+1 {{'stablehlo.batch_norm_training' op failed to infer returned types}}
  %0:3 = "stablehlo.batch_norm_training"(%x, %v, %w) {epsilon = 1.0e-3 : f32, feature_index = 1 : i64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<4xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @gradient(%x: tensor<2x3x4xf32>, %v: tensor<3xf32>, %g: tensor<2x3x5xf32>) {
  // expected-error @+2 {{expects multi-dimensional operands to have compatible shapes.}}
  // expected-error @+1 {{'stablehlo.batch_norm_grad' op failed to infer returned types}}
  %0:3 = "stablehlo.batch_norm_grad"(%x, %v, %v, %v, %g) {epsilon = 1.0e-3 : f32, feature_index = 1 : i64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3x5xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @elements(%x: tensor<2x3x4xf32>, %v: tensor<3xf64>) {
  // expected-error @+1 {{'stablehlo.batch_norm_training' op requires compatible element types for all operands and results}}
  %0:3 = "stablehlo.batch_norm_training"(%x, %v, %v) {epsilon = 1.0e-3 : f32, feature_index = 1 : i64} : (tensor<2x3x4xf32>, tensor<3xf64>, tensor<3xf64>) -> (tensor<2x3x4xf32>, tensor<3xf64>, tensor<3xf64>)
  return
}

// -----

func.func @epsilon(%x: tensor<2x3x4xf32>, %v: tensor<3xf32>) {
  // expected-error @+1 {{attribute 'epsilon' failed to satisfy constraint: 32-bit float attribute}}
  %0:3 = "stablehlo.batch_norm_training"(%x, %v, %v) {epsilon = 1.0e-3 : f64, feature_index = 1 : i64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}
