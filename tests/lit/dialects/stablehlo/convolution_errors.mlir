// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @missing_letter(%x: tensor<2x8x4xf32>, %k: tensor<3x4x6xf32>) {
  // expected-error @+1 {{custom op 'stablehlo.convolution' Expected dimensions f not specified}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x4xf32>, tensor<3x4x6xf32>) -> tensor<2x6x6xf32>
  return
}

// -----

func.func @wrong_letter(%x: tensor<2x8x4xf32>, %k: tensor<3x4x6xf32>) {
  // expected-error @+1 {{Unexpected dimension b, expecting o}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, b]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x4xf32>, tensor<3x4x6xf32>) -> tensor<2x6x6xf32>
  return
}

// -----

func.func @missing_number(%x: tensor<2x8x4xf32>, %k: tensor<3x4x6xf32>) {
  // expected-error @+1 {{Expected spatial dimensions 0, 1 not specified}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 2, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x4xf32>, tensor<3x4x6xf32>) -> tensor<2x6x6xf32>
  return
}

// -----

func.func @number_twice(%x: tensor<2x8x4xf32>, %k: tensor<3x4x6xf32>) {
  // expected-error @+1 {{Duplicate entries for spatial dimension 0}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x4xf32>, tensor<3x4x6xf32>) -> tensor<2x6x6xf32>
  return
}

// -----

func.func @unknown_entry(%x: tensor<2x8x4xf32>, %k: tensor<3x4x6xf32>) {
  // expected-error @+1 {{Unexpected keyword dilate}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x4xf32>, tensor<3x4x6xf32>) -> tensor<2x6x6xf32>
  return
}

// -----

func.func @no_pair(%x: tensor<2x8x4xf32>, %k: tensor<3x4x6xf32>) {
  // expected-error @+1 {{Expected array with 2 elements, got 1 elements instead}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x4xf32>, tensor<3x4x6xf32>) -> tensor<2x6x6xf32>
  return
}

// -----

func.func @window_of_another_rank(%x: tensor<2x8x4xf32>, %k: tensor<3x4x6xf32>) {
  // expected-error @+1 {{expects window-strides to have same dimension-size as size of window dimensions (1), but got: 2.}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x4xf32>, tensor<3x4x6xf32>) -> tensor<2x6x6xf32>
  return
}

// -----

func.func @no_stride(%x: tensor<2x8x4xf32>, %k: tensor<3x4x6xf32>) {
  // expected-error @+1 {{expects window to have positive stride for 0-th window dimension, but got 0.}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [0]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x4xf32>, tensor<3x4x6xf32>) -> tensor<2x6x6xf32>
  return
}

// -----

func.func @ranks(%x: tensor<2x8x4xf32>, %k: tensor<3x3x4x6xf32>) {
  // expected-error @+1 {{expects convolution arguments to have same number of dimensions. Got: 'tensor<2x8x4xf32>' and 'tensor<3x3x4x6xf32>'.}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<2x6x6xf32>
  return
}

// -----

func.func @groups_of_both(%x: tensor<2x8x4xf32>, %k: tensor<3x4x6xf32>) {
  // expected-error @+1 {{expects batch_group_count and feature_group_count not to be both greater than 1. Got 2 and 2 resp.}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 2 : i64, feature_group_count = 2 : i64} : (tensor<2x8x4xf32>, tensor<3x4x6xf32>) -> tensor<2x6x6xf32>
  return
}

// -----

func.func @features(%x: tensor<2x8x4xf32>, %k: tensor<3x5x6xf32>) {
  // expected-error @+1 {{expects input feature dimension (4) / feature_group_count = kernel input feature dimension (5). Got feature_group_count = 1.}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x4xf32>, tensor<3x5x6xf32>) -> tensor<2x6x6xf32>
  return
}

// -----

func.func @no_group(%x: tensor<2x8x4xf32>, %k: tensor<3x4x6xf32>) {
  // expected-error @+1 {{attribute 'feature_group_count' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 0 : i64} : (tensor<2x8x4xf32>, tensor<3x4x6xf32>) -> tensor<2x6x6xf32>
  return
}

// -----

func.func @result_shape(%x: tensor<2x8x4xf32>, %k: tensor<3x4x6xf32>) {
  // expected-error @+1 {{inferred shape '[2, 6, 6]' is incompatible with return type of operation 'tensor<2x8x6xf32>'}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x4xf32>, tensor<3x4x6xf32>) -> tensor<2x8x6xf32>
  return
}

// -----

func.func @dimension_used_twice(%x: tensor<2x8x4xf32>, %k: tensor<3x4x6xf32>) {
  // expected-error @+1 {{expects input dimension-numbers to be unique, got {0, 2, 0}.}}
  %0 = "stablehlo.convolution"(%x, %k) {batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<raw
    input_batch_dimension = 0, input_feature_dimension = 2, input_spatial_dimensions = [0],
    kernel_input_feature_dimension = 1, kernel_output_feature_dimension = 2, kernel_spatial_dimensions = [0],
    output_batch_dimension = 0, output_feature_dimension = 2, output_spatial_dimensions = [1]
  >} : (tensor<2x8x4xf32>, tensor<3x4x6xf32>) -> tensor<2x6x6xf32>
  return
}

// -----

func.func @padding_of_another_shape(%x: tensor<2x8x4xf32>, %k: tensor<3x4x6xf32>, %padding: tensor<2x2xi64>) {
  // expected-error @+1 {{expects padding to be of shape [1, 2], but got [2, 2]}}
  %0 = "stablehlo.dynamic_conv"(%x, %k, %padding) {batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>} : (tensor<2x8x4xf32>, tensor<3x4x6xf32>, tensor<2x2xi64>) -> tensor<2x?x6xf32>
  return
}

// -----

func.func @axis_of_quantization(%x: tensor<2x8x4x!quant.uniform<i8:f32, 1.0>>, %k: tensor<3x2x6x!quant.uniform<i8:f32:1, {1.0, 1.0}>>) {
  // expected-error @+1 {{quantization dimension of rhs should be same with kernel_output_feature_dimension}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<2x8x4x!quant.uniform<i8:f32, 1.0>>, tensor<3x2x6x!quant.uniform<i8:f32:1, {1.0, 1.0}>>) -> tensor<2x6x6x!quant.uniform<i8:f32, 1.0>>
  return
}
