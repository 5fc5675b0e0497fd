// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @integers_are_not_normal(%x: tensor<i32>, %shape: tensor<2xi64>) {
  // expected-error @+2 {{mu and sigma must be floats}}
  // expected-error @+1 {{'stablehlo.rng' op failed to infer returned types}}
  %0 = stablehlo.rng %x, %x, %shape, distribution = NORMAL : (tensor<i32>, tensor<i32>, tensor<2xi64>) -> tensor<3x4xi32>
  return
}

// -----

func.func @elements(%x: tensor<f32>, %y: tensor<f64>, %shape: tensor<2xi64>) {
  // expected-error @+1 {{'stablehlo.rng' op failed to verify that all of {a, b, result} have same element type}}
  %0 = stablehlo.rng %x, %y, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f64>, tensor<2xi64>) -> tensor<3x4xf32>
  return
}

// -----

func.func @constant_shape(%x: tensor<f32>) {
  %c = stablehlo.constant dense<[3, 5]> : tensor<2xi64>
  // expected-error @+2 {{'stablehlo.rng' op inferred type(s) 'tensor<3x5xf32>' are incompatible with return type(s) of operation 'tensor<3x4xf32>'}}
  // expected-error @+1 {{'stablehlo.rng' op failed to infer returned types}}
  %0 = stablehlo.rng %x, %x, %c, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<3x4xf32>
  return
}

// -----

func.func @state(%state: tensor<2xui64>) {
  // expected-error @+1 {{output state shape must be compatible with initial state shape. Got: 'tensor<2xui64>' and 'tensor<3xui64>'}}
  %0:2 = stablehlo.rng_bit_generator %state, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<3xui64>, tensor<8xui32>)
  return
}

// -----

func.func @dynamic_bits(%state: tensor<2xui64>) {
  // expected-error @+1 {{result #1 must be statically shaped tensor of 2/4/8/16/32/64-bit integer or 4/6/8/16/32/64-bit float values, but got 'tensor<?xui32>'}}
  %0:2 = stablehlo.rng_bit_generator %state, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<?xui32>)
  return
}
