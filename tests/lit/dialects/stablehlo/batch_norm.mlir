// RUN: sdy-opt %s | filecheck %s

// CHECK-LABEL: func.func @batch_norm
func.func @batch_norm(%x: tensor<2x3x4xf32>, %v: tensor<3xf32>) {
  // CHECK: %output, %batch_mean, %batch_var = "stablehlo.batch_norm_training"(%{{.*}}, %{{.*}}, %{{.*}}) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}>
  %0:3 = "stablehlo.batch_norm_training"(%x, %v, %v) {epsilon = 1.0e-3 : f32, feature_index = 1 : i64}
    : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
  // CHECK: "stablehlo.batch_norm_inference"(%output, %{{.*}}, %{{.*}}, %batch_mean, %batch_var)
  %1 = "stablehlo.batch_norm_inference"(%0#0, %v, %v, %0#1, %0#2) {epsilon = 1.0e-3 : f32, feature_index = 1 : i64}
    : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  // CHECK: %grad_operand, %grad_scale, %grad_offset = "stablehlo.batch_norm_grad"
  %2:3 = "stablehlo.batch_norm_grad"(%x, %v, %0#1, %0#2, %1) {epsilon = 1.0e-3 : f32, feature_index = 1 : i64}
    : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3x4xf32>)
    -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}
