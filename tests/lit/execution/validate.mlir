// REQUIRES: jax
// RUN: sdy-opt %s --validate=2 -split-input-file -verify-diagnostics -sdy-partition-pipeline
// RUN: sdy-opt %s --validate --validate-mode=manual -split-input-file -verify-diagnostics -sdy-partition-pipeline

// The program is run on one device, and the partitioned program on 4 devices. Every shard of every result is
// compared. Here a concatenation is turned into messages between neighbors.
sdy.mesh @mesh = <["x"=4]>
// expected-remark @+1 {{validated: @main: 2 results are equal on 4 devices for}}
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<4xf32>) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.slice %a [3:8, 0:4] : (tensor<8x4xf32>) -> tensor<5x4xf32>
  %1 = stablehlo.slice %a [0:3, 0:4] : (tensor<8x4xf32>) -> tensor<3x4xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<5x4xf32>, tensor<3x4xf32>) -> tensor<8x4xf32>
  %3 = stablehlo.reduce(%2 init: %low) applies stablehlo.maximum across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %2, %3 : tensor<8x4xf32>, tensor<4xf32>
}

// -----

// A mesh whose devices are permuted, and an unreduced result: the partial sums of a group of devices are
// added before they are compared.
sdy.mesh @mesh = <["x"=2, "y"=2], device_ids=[3, 1, 2, 0]>
// expected-remark @+1 {{validated: @main: 1 result is equal on 4 devices for}}
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %b: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced={"y"}>}) {
  %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}], unreduced={"y"}>]>} : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

// Unreduced inputs get random parts that combine to the whole: here the maximum of two devices, and their sum.
sdy.mesh @mesh = <["x"=2, "y"=2]>
// expected-remark @+1 {{validated: @main: 2 results are equal on 4 devices for}}
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}], unreduced=max{"y"}>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}], unreduced={"y"}>}) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = sdy.reshard %a <@mesh, [{"x"}]> : tensor<8xf32>
  %1 = sdy.reshard %b <@mesh, [{"x"}]> : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// A program that depends on how numbers are represented is not run in f64.
sdy.mesh @mesh = <["x"=2]>
// expected-remark @+1 {{not in f64, because 'stablehlo.bitcast_convert' depends on how numbers are represented}}
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xi32> {
  %0 = stablehlo.bitcast_convert %a : (tensor<8xf32>) -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// -----

// A program with a manual computation has no meaning on whole tensors: XLA's own partitioner computes what is
// expected.
sdy.mesh @mesh = <["x"=2]>
// expected-remark @+1 {{validated: @main: 1 result is equal on 2 devices for}}
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%b: tensor<4xf32>) {
    %1 = stablehlo.reverse %b, dims = [0] : tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
