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

// -----

// A cumulative sum along a dimension whose last shard is smaller, and a cumulative maximum from its end.
sdy.mesh @mesh = <["x"=4]>
// expected-remark @+1 {{validated: @main: 2 results are equal on 4 devices}}
func.func @main(%a: tensor<13x2xf32>) -> (tensor<13x2xf32>, tensor<13x2xf32>) {
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<13x2xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = "stablehlo.reduce_window"(%0, %zero) <{padding = dense<[[12, 0], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 13, 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %2 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<13x2xf32>, tensor<f32>) -> tensor<13x2xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %3 = "stablehlo.reduce_window"(%0, %low) <{padding = dense<[[0, 12], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 13, 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %4 = stablehlo.maximum %x, %y : tensor<f32>
    stablehlo.return %4 : tensor<f32>
  }) : (tensor<13x2xf32>, tensor<f32>) -> tensor<13x2xf32>
  %5 = sdy.sharding_constraint %1 <@mesh, [{"x"}, {}]> : tensor<13x2xf32>
  %6 = sdy.sharding_constraint %3 <@mesh, [{"x"}, {}]> : tensor<13x2xf32>
  %7 = sdy.sharding_constraint %5 <@mesh, [{}, {}]> : tensor<13x2xf32>
  %8 = sdy.sharding_constraint %6 <@mesh, [{}, {}]> : tensor<13x2xf32>
  return %7, %8 : tensor<13x2xf32>, tensor<13x2xf32>
}

// -----

// The three largest of many equal elements, the first ones first, and their indices.
sdy.mesh @mesh = <["x"=4, "y"=2]>
// expected-remark @+1 {{validated: @main: 2 results are equal on 8 devices}}
func.func @main(%a: tensor<6x32xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) -> (tensor<6x3xi32>, tensor<6x3xi32>) {
  %c = stablehlo.constant dense<3> : tensor<6x32xi32>
  %0 = stablehlo.and %a, %c : tensor<6x32xi32>
  %1:2 = stablehlo.custom_call @mhlo.topk(%0) {mhlo.attributes = {k = 3 : i64, largest = true}, mhlo.version = 1 : i64} : (tensor<6x32xi32>) -> (tensor<6x3xi32>, tensor<6x3xi32>)
  return %1#0, %1#1 : tensor<6x3xi32>, tensor<6x3xi32>
}

// -----

// A dynamic slice whose elements are in two shards, the second of which is smaller. The index is clamped as that of
// the whole tensor.
sdy.mesh @mesh = <["x"=4]>
// expected-remark @+1 {{validated: @main: 1 result is equal on 4 devices}}
func.func @main(%a: tensor<13x2xf32>, %i: tensor<ui8>) -> tensor<4x2xf32> {
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<13x2xf32>
  %c = stablehlo.constant dense<0> : tensor<ui8>
  %m = stablehlo.constant dense<15> : tensor<ui8>
  %1 = stablehlo.remainder %i, %m : tensor<ui8>
  %2 = stablehlo.dynamic_slice %0, %1, %c, sizes = [4, 2] : (tensor<13x2xf32>, tensor<ui8>, tensor<ui8>) -> tensor<4x2xf32>
  return %2 : tensor<4x2xf32>
}

// -----

// Two reshapes between shards of other sizes, one of which is of the dimension between two others.
sdy.mesh @mesh = <["x"=4, "y"=2]>
// expected-remark @+1 {{validated: @main: 2 results are equal on 8 devices}}
func.func @main(%a: tensor<10xf32>, %b: tensor<6x15x2xf32>) -> (tensor<5x2xf32>, tensor<6x5x3x2xf32>) {
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<10xf32>
  %1 = stablehlo.reshape %0 : (tensor<10xf32>) -> tensor<5x2xf32>
  %2 = sdy.sharding_constraint %1 <@mesh, [{"x"}, {}]> : tensor<5x2xf32>
  %3 = sdy.sharding_constraint %b <@mesh, [{"y"}, {"x"}, {}]> : tensor<6x15x2xf32>
  %4 = stablehlo.reshape %3 : (tensor<6x15x2xf32>) -> tensor<6x5x3x2xf32>
  %5 = sdy.sharding_constraint %4 <@mesh, [{"y"}, {"x"}, {}, {}]> : tensor<6x5x3x2xf32>
  %6 = sdy.sharding_constraint %2 <@mesh, [{}, {}]> : tensor<5x2xf32>
  %7 = sdy.sharding_constraint %5 <@mesh, [{}, {}, {}, {}]> : tensor<6x5x3x2xf32>
  return %6, %7 : tensor<5x2xf32>, tensor<6x5x3x2xf32>
}
