// REQUIRES: jax
// RUN: sdy-opt %s --validate -split-input-file -verify-diagnostics --validate-memory=1

// If a program cannot be validated, a warning gives the reason; --werror makes it an error.

// expected-warning @+1 {{not validated: the program has no function to run}}
module {}

// -----

// expected-warning @+1 {{not validated: it takes or returns a value of type tensor<?xf32>}}
func.func @dynamic(%a: tensor<?xf32>) -> tensor<?xf32> {
  return %a : tensor<?xf32>
}

// -----

// Inputs and outputs of 8 GiB in f64, with a limit of 1 GiB.
// expected-warning @+1 {{not validated: its inputs and outputs have 8.0 GiB; the limit is 1 GiB}}
func.func @large(%a: tensor<536870912xf32>) -> tensor<f32> {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  return %0 : tensor<f32>
}

// -----

// expected-warning @+1 {{not validated: XLA: NOT_FOUND: No registered implementation for}}
func.func @unknown_call(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @of_another_backend(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=65536]>
// expected-warning @+1 {{not validated: it has 65536 devices; the limit is 1024}}
func.func @many(%a: tensor<65536xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<65536xf32> {
  return %a : tensor<65536xf32>
}

// -----

// An all-reduce of copies multiplies them: it is no operation on whole tensors.
sdy.mesh @mesh = <["x"=4]>
// expected-warning @+1 {{not validated: 'sdy.all_reduce' adds copies of a value, which is no operation on whole tensors}}
func.func @copies(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> tensor<8xf32> {
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Nothing can be compared if everything is NaN.
// expected-warning @+2 {{result #0 of @nan is NaN or infinite in 100% of its elements, which hides differences}}
// expected-remark @+1 {{validated: @nan}}
func.func @nan(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.subtract %a, %a : tensor<8xf32>
  %1 = stablehlo.divide %0, %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

sdy.mesh @two = <["x"=2]>
sdy.mesh @three = <["y"=3]>
// expected-warning @+1 {{not validated: its meshes have different numbers of devices}}
func.func @meshes(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@two, [{"x"}]>}, %b: tensor<6xf32> {sdy.sharding = #sdy.sharding<@three, [{"y"}]>}) -> tensor<6xf32> {
  return %a : tensor<6xf32>
}

// -----

// Two devices add what each of them has. There is no such operation on one device.
// expected-warning @+1 {{not validated: 'stablehlo.all_reduce' outside of a manual computation has no meaning on whole tensors}}
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %1 = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
