// REQUIRES: jax
// RUN: sdy-opt %s --validate -split-input-file -verify-diagnostics

// Without @main, every function that no other one calls is run. They are partitioned first.
sdy.mesh @mesh = <["x"=2]>
// expected-remark @+1 {{validated: @first: 1 result is equal on 2 devices for}}
func.func @first(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.sine %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}
// expected-remark @+1 {{validated: @second: 1 result is equal on 2 devices for}}
func.func @second(%a: tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xi32> {
  %0 = stablehlo.negate %a : tensor<8xi32>
  return %0 : tensor<8xi32>
}

// -----

// With @main, other functions are run only where it calls them.
// expected-remark @+1 {{validated: @main: 1 result is equal for 1 random input, without any difference}}
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @double(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func @double(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.add %a, %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func @not_called(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
