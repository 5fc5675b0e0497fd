// REQUIRES: jax
// RUN: sdy-opt %s --validate=2 -split-input-file -verify-diagnostics -sdy-partition-pipeline --sdy-version=jaxlib-0.10.2

// Newer releases reject most of these programs, since unreduced axes appear or disappear without an operation for it.

// Every device computes the whole tensor, and declares it one of the terms of a sum: all but one must drop it.
sdy.mesh @mesh = <["w"=8], device_ids=[0, 6, 5, 7, 4, 1, 2, 3]>
// expected-remark @+1 {{validated: @main: 1 result is equal on 8 devices}}
func.func @main(%a: tensor<4x6xf32>) -> (tensor<4x6xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"w":(1)2}], unreduced={"w":(2)4}>}) {
  %0 = stablehlo.complex %a, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"w":(1)2}], unreduced={"w":(2)4}>]>} : tensor<4x6xcomplex<f32>>
  return %0 : tensor<4x6xcomplex<f32>>
}

// -----

// A constant, and results without a sharding that the function declares unreduced.
sdy.mesh @mesh = <["one"=1, "w"=8]>
// expected-remark @+1 {{validated: @main: 3 results are equal on 8 devices}}
func.func @main() -> (tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, [], unreduced={"w"}>}, tensor<f32>, tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, [], unreduced={"w":(4)2}>}) {
  %0 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [], unreduced={"w":(1)4}>]>} dense<0.5> : tensor<f32>
  %1 = stablehlo.exponential %0 : tensor<f32>
  %2:2 = stablehlo.optimization_barrier %1, %1 : tensor<f32>, tensor<f32>
  return %2#0, %1, %2#1 : tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

// The sum of partial sums is one, their maximum is not, and a product is one if one factor is whole. A branch is
// selected by the whole index.
sdy.mesh @mesh = <["x"=2, "y"=2]>
// expected-remark @+1 {{validated: @main: 4 results are equal on 4 devices}}
func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}, %b: tensor<4xf32>, %i: tensor<i32> {sdy.sharding = #sdy.sharding<@mesh, [], unreduced={"y"}>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}, tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}, tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}, tensor<4xf32>) {
  %0 = stablehlo.add %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>} : tensor<4xf32>
  %1 = stablehlo.maximum %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>} : tensor<4xf32>
  %2 = stablehlo.multiply %0, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>} : tensor<4xf32>
  %3 = "stablehlo.case"(%i) ({
    stablehlo.return %b : tensor<4xf32>
  }, {
    stablehlo.return %1 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Partial maxima are not the terms of a sum.
sdy.mesh @mesh = <["x"=2]>
// expected-remark @+1 {{validated: @main: 1 result is equal on 2 devices}}
func.func @main(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %low) applies stablehlo.maximum across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
