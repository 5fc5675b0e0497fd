// RUN: sdy-opt %s | filecheck %s

// Only a constant shape operand determines the result shape.
// CHECK-LABEL: func.func @rng
func.func @rng(%low: tensor<f32>, %high: tensor<f32>, %shape: tensor<2xi64>) {
  // CHECK: stablehlo.rng %{{.*}}, %{{.*}}, %{{.*}}, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<3x4xf32>
  %0 = stablehlo.rng %low, %high, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<3x4xf32>
  // CHECK: stablehlo.rng %{{.*}}, %{{.*}}, %{{.*}}, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<?x4xf32>
  %1 = stablehlo.rng %low, %high, %shape, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<?x4xf32>
  return
}

// Its results have names.
// CHECK-LABEL: func.func @rng_bit_generator
func.func @rng_bit_generator(%state: tensor<2xui64>) {
  // CHECK: %output_state, %output = stablehlo.rng_bit_generator %{{.*}}, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui32>)
  %0:2 = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui32>)
  // CHECK: %output_state_0, %output_1 = stablehlo.rng_bit_generator %output_state, algorithm = DEFAULT
  %1:2 = stablehlo.rng_bit_generator %0#0, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui32>)
  return
}
