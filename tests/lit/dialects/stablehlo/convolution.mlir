// RUN: sdy-opt %s | filecheck %s

// Missing window entries have their defaults.
// CHECK-LABEL: func.func @plain
func.func @plain(%image: tensor<2x8x8x4xf32>, %kernel: tensor<3x3x4x6xf32>) {
  // CHECK: stablehlo.convolution(%{{.*}}, %{{.*}}) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} :
  %0 = stablehlo.convolution(%image, %kernel) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<2x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<2x6x6x6xf32>
  return
}

// Window entries are parsed in any order and printed in a fixed one.
// CHECK-LABEL: func.func @window
func.func @window(%image: tensor<2x8x8x4xf32>, %kernel: tensor<3x3x4x6xf32>) {
  // CHECK: window = {stride = [2, 1], pad = {{\[\[}}1, 1], [0, 2]], lhs_dilate = [1, 1], rhs_dilate = [1, 2], reverse = [true, false]}
  %0 = stablehlo.convolution(%image, %kernel) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {reverse = [1, 0], pad = [[1, 1], [0, 2]], rhs_dilate = [1, 2], lhs_dilate = [1, 1], stride = [2, 1]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<2x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<2x4x6x6xf32>
  return
}

// CHECK-LABEL: func.func @groups
func.func @groups(%image: tensor<2x8x4xf32>, %kernel: tensor<3x2x6xf32>) {
  // CHECK: dim_numbers = [b, 0, f]x[0, i, o]->[f, 0, b], window = {stride = [1]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64, precision_config = [#stablehlo<precision HIGH>]} :
  %0 = stablehlo.convolution(%image, %kernel) dim_numbers = [b, 0, f]x[0, i, o]->[f, 0, b], window = {stride = [1]}
    {batch_group_count = 1 : i64, feature_group_count = 2 : i64, precision_config = [#stablehlo<precision HIGH>]}
    : (tensor<2x8x4xf32>, tensor<3x2x6xf32>) -> tensor<6x6x2xf32>
  return
}

// A window larger than the padded tensor has no position.
// CHECK-LABEL: func.func @too_large
func.func @too_large(%image: tensor<2x2x4xf32>, %kernel: tensor<3x4x6xf32>) {
  // CHECK: -> tensor<2x0x6xf32>
  %0 = stablehlo.convolution(%image, %kernel) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x2x4xf32>, tensor<3x4x6xf32>) -> tensor<2x0x6xf32>
  return
}

// CHECK-LABEL: func.func @dynamic_padding
func.func @dynamic_padding(%image: tensor<2x8x4xf32>, %kernel: tensor<3x4x6xf32>, %padding: tensor<1x2xi64>) {
  // CHECK: "stablehlo.dynamic_conv"(%{{.*}}, %{{.*}}, %{{.*}}) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64}>
  %0 = "stablehlo.dynamic_conv"(%image, %kernel, %padding) {
    dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>,
    batch_group_count = 1 : i64, feature_group_count = 1 : i64
  } : (tensor<2x8x4xf32>, tensor<3x4x6xf32>, tensor<1x2xi64>) -> tensor<2x?x6xf32>
  return
}

// The raw form can express invalid dimension numbers; valid ones are printed in the usual form.
// CHECK-LABEL: func.func @raw
// CHECK-SAME: #stablehlo.conv<[0, b, f]x[i, o, 0]->[b, f, 0]>
func.func @raw() attributes {dims = #stablehlo.conv<raw
  input_batch_dimension = 1, input_feature_dimension = 2, input_spatial_dimensions = [0],
  kernel_output_feature_dimension = 1, kernel_spatial_dimensions = [2],
  output_feature_dimension = 1, output_spatial_dimensions = [2]
>} {
  return
}

// Dimension numbers that the usual form cannot express.
// CHECK-LABEL: func.func @others
// CHECK-SAME: #stablehlo.conv<raw input_batch_dimension = 1, input_feature_dimension = 7, input_spatial_dimensions = [3, 4], kernel_input_feature_dimension = 0, kernel_output_feature_dimension = 0, kernel_spatial_dimensions = [], output_batch_dimension = 0, output_feature_dimension = 0, output_spatial_dimensions = []>
func.func @others() attributes {dims = #stablehlo.conv<raw
  input_batch_dimension = 1, input_feature_dimension = 7, input_spatial_dimensions = [3, 4]>
} {
  return
}
