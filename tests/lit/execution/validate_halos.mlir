// REQUIRES: jax
// RUN: sdy-opt %s --validate=1 -sdy-partition-pipeline -verify-diagnostics -split-input-file -o /dev/null

// A NaN is selected, and its window scatters there, even if the window ends with padding. No element could stand
// for that padding: NaN >= x is false for every x.
sdy.mesh @mesh = <["x"=2]>
// expected-remark @+1 {{validated: @main: 1 result is equal on 2 devices}}
func.func @main(%s: tensor<4xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %a = stablehlo.constant dense<[1.0, 2.0, 3.0, 0x7FC00000, 5.0, 6.0, 7.0, 0x7FC00000]> : tensor<8xf32>
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<8xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = "stablehlo.select_and_scatter"(%0, %s, %z) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, padding = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %2 = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %2 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<8xf32>, tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
