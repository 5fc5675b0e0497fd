// RUN: sdy-opt %s -sdy-insert-explicit-reshards -split-input-file -verify-diagnostics

sdy.mesh @device_0 = <[], device_ids=[0]>

// Inputs and outputs of a function are on all devices.
// expected-error @+1 {{'func.func' op function argument 0 cannot have a single-device sharding attribute}}
func.func @argument(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@device_0, []>}) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}

// -----

sdy.mesh @device_0 = <[], device_ids=[0]>

// expected-error @+1 {{'func.func' op function result 0 cannot have a single-device sharding attribute}}
func.func @result(%a: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@device_0, []>}) {
  return %a : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
sdy.mesh @device_0 = <[], device_ids=[0]>
sdy.mesh @device_1 = <[], device_ids=[1]>

func.func @two_devices(%a: tensor<8xf32>) -> (tensor<f32>, tensor<f32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op has conflicting single-device result shardings}}
  %0:2 = stablehlo.custom_call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@device_0, []>, <@device_1, []>]>} : (tensor<8xf32>) -> (tensor<f32>, tensor<f32>)
  return %0#0, %0#1 : tensor<f32>, tensor<f32>
}
