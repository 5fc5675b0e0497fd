// A sharding on a maximal mesh has no dimensions, so no change of its axes is proposed.

// RUN: sdy-opt %s -sdy-update-non-divisible-input-output-shardings --lint | FileCheck %s

// CHECK: no findings

sdy.mesh @mesh = <["x"=2]>
sdy.mesh @first_device = <[], device_ids=[0]>

func.func @main(%a: tensor<7xf32>, %b: tensor<8xf32>) -> (tensor<7xf32>, tensor<8xf32>) {
  %0 = stablehlo.sine %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<7xf32>
  %1 = "stablehlo.sort"(%0) <{dimension = 0}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %less = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<7xf32>) -> tensor<7xf32>
  %2 = stablehlo.cosine %b {sdy.sharding = #sdy.sharding_per_value<[<@first_device, []>]>} : tensor<8xf32>
  return %1, %2 : tensor<7xf32>, tensor<8xf32>
}
