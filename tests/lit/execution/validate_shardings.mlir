// REQUIRES: jax
// RUN: sdy-opt %s --validate=2 -split-input-file -verify-diagnostics -sdy-partition-pipeline

// Combinations of shardings for which an operation, or a reshard, must not use the shards as they are.

// The sorted dimension is sharded; -2 is the first one.
sdy.mesh @mesh = <["x"=4]>
// expected-remark @+1 {{validated: @main: 1 result is equal on 4 devices}}
func.func @main(%a: tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x2xf32> {
  %0 = "stablehlo.sort"(%a) <{dimension = -2 : i64}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %1 = stablehlo.compare LT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<8x2xf32>) -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}

// -----

// The result of a barrier is sharded in another way than its input, and the function returns it.
sdy.mesh @mesh = <["x"=2, "y"=2]>
// expected-remark @+1 {{validated: @main: 2 results are equal on 4 devices}}
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}, tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  %0 = sdy.propagation_barrier %a allowed_direction=NONE {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : tensor<8x8xf32>
  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// No device order has both "six":(1)2 and "six":(3)2: the tensor is gathered before it is sliced.
sdy.mesh @mesh = <["six"=6]>
// expected-remark @+1 {{validated: @main: 1 result is equal on 6 devices}}
func.func @main(%a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"six":(1)2}, {}]>}) -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"six":(3)2}]>}) {
  return %a : tensor<4x4xf32>
}

// -----

// Explicit reshards do not change operations with shardings on meshes with different axes, and do not all-reduce
// their results.
sdy.mesh @mesh = <["x"=2]>
sdy.mesh @other = <["a"=2]>
// expected-remark @+1 {{validated: @main: 1 result is equal on 2 devices}}
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %zero: tensor<f32> {sdy.sharding = #sdy.sharding<@other, []>}) -> tensor<4xf32> {
  %none = stablehlo.multiply %zero, %zero {sdy.sharding = #sdy.sharding_per_value<[<@other, []>]>} : tensor<f32>
  %init = stablehlo.subtract %none, %none {sdy.sharding = #sdy.sharding_per_value<[<@other, []>]>} : tensor<f32>
  %0 = stablehlo.reduce(%a init: %init) applies stablehlo.add across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A slice of a dimension of size 1 that is sharded.
sdy.mesh @mesh = <["x"=2]>
// expected-remark @+1 {{validated: @main: 1 result is equal on 2 devices}}
func.func @main(%a: tensor<1x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<3x1xi32>) -> (tensor<3x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<1x8xf32>, tensor<3x1xi32>) -> tensor<3x1xf32>
  return %0 : tensor<3x1xf32>
}

// -----

// The sum of truth values is their disjunction.
sdy.mesh @mesh = <["x"=2]>
// expected-remark @+1 {{validated: @main: 1 result is equal on 2 devices}}
func.func @main(%a: tensor<2xi1> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) -> tensor<2xi1> {
  return %a : tensor<2xi1>
}

// -----

// Windows of two dimensions, of which the second is sharded: its padding comes after other elements of a window.
sdy.mesh @mesh = <["x"=2]>
// expected-remark @+1 {{validated: @main: 1 result is equal on 2 devices}}
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<4x8xf32>) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%a, %b, %zero) <{padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 1>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %1 = stablehlo.compare GE, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %1 = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<8x8xf32>, tensor<4x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// The result is sharded along a dimension of size 1, which the kernel is not.
sdy.mesh @mesh = <["x"=2]>
// expected-remark @+1 {{validated: @main: 1 result is equal on 2 devices}}
func.func @main(%a: tensor<2x8xf32>, %b: tensor<8x1xf32>) -> (tensor<2x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f]x[i, o]->[b, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<2x8xf32>, tensor<8x1xf32>) -> tensor<2x1xf32>
  return %0 : tensor<2x1xf32>
}

// -----

// Explicit reshards shard the result along the axis that it is declared unreduced along.
sdy.mesh @mesh = <["x"=2, "y"=2]>
// expected-remark @+1 {{validated: @main: 1 result is equal on 4 devices}}
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %i: tensor<i32>) -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}], unreduced={"x"}>}) {
  %0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [8, 6] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}], unreduced={"x"}>]>} : (tensor<8x16xf32>, tensor<i32>, tensor<i32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

// The result is sharded along the batch, of which each group has a part; the kernel is on another mesh.
sdy.mesh @mesh = <["x"=2]>
sdy.mesh @other = <["a"=2]>
// expected-remark @+1 {{validated: @main: 1 result is equal on 2 devices}}
func.func @main(%a: tensor<4x8x1xf32>, %b: tensor<3x1x2xf32> {sdy.sharding = #sdy.sharding<@other, [{}, {}, {}]>}) -> (tensor<2x8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 2 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>} : (tensor<4x8x1xf32>, tensor<3x1x2xf32>) -> tensor<2x8x2xf32>
  return %0 : tensor<2x8x2xf32>
}

// -----

// The groups of the batch are sharded along "y", and what a group has of the result along "x".
sdy.mesh @mesh = <["x"=2, "y"=2]>
// expected-remark @+1 {{validated: @main: 1 result is equal on 4 devices}}
func.func @main(%a: tensor<4x8x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}, {}]>}, %b: tensor<3x1x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"y"}]>}) -> tensor<2x8x4xf32> {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 2 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {"y"}]>]>} : (tensor<4x8x1xf32>, tensor<3x1x4xf32>) -> tensor<2x8x4xf32>
  return %0 : tensor<2x8x4xf32>
}
