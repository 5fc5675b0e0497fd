// RUN: sdy-opt %s -sdy-resolve-single-device-sharding -split-input-file -verify-diagnostics

sdy.mesh @mesh = <["x"=2]>
sdy.mesh @device_0 = <[], device_ids=[0]>
sdy.mesh @device_1 = <[], device_ids=[1]>

func.func @two_devices(%a: tensor<8xf32>) -> (tensor<f32>, tensor<f32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op has conflicting single-device result shardings}}
  %0:2 = stablehlo.custom_call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@device_0, []>, <@device_1, []>]>} : (tensor<8xf32>) -> (tensor<f32>, tensor<f32>)
  return %0#0, %0#1 : tensor<f32>, tensor<f32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
sdy.mesh @device_0 = <[], device_ids=[0]>

func.func @sharded(%a: tensor<8xf32>) -> (tensor<f32>, tensor<8xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op has a result on a single device, and one that is sharded}}
  %0:2 = stablehlo.custom_call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@device_0, []>, <@mesh, [{"x"}]>]>} : (tensor<8xf32>) -> (tensor<f32>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<f32>, tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
sdy.mesh @device_7 = <[], device_ids=[7]>

// No device would compute this.
func.func @outside(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'stablehlo.negate' op runs on device 7, which is not in the mesh @mesh}}
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@device_7, []>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
