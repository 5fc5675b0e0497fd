// RUN: sdy-opt %s -sdy-resolve-permutation-factors | filecheck %s

// Cumulative operations along a sharded dimension gather one total of each shard.

sdy.mesh @mesh = <["x"=2]>

// Each device adds the total of the shards before its own to the sums of its shard.
// CHECK-LABEL: func.func @cumulative_sum(%arg0: tensor<3x8xf32>{{.*}}) -> (tensor<3x8xf32>{{.*}})
// CHECK-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %0 = sdy.manual_computation(%cst, %arg0) in_shardings=[<@mesh, []>, <@mesh, [{}, {"x"}]>] out_shardings=[<@mesh, [{}, {"x"}]>] manual_axes={"x"} (%arg1: tensor<f32>, %arg2: tensor<3x4xf32>) {
// CHECK-NEXT: %1 = "stablehlo.reduce_window"(%arg2, %arg1) <{padding = dense<{{\[\[}}0, 0], [3, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 4>}> ({
// CHECK-NEXT: ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
// CHECK-NEXT: %15 = stablehlo.add %arg3, %arg4 : tensor<f32>
// CHECK-NEXT: stablehlo.return %15 : tensor<f32>
// CHECK-NEXT: }) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
// CHECK-NEXT: %2 = stablehlo.slice %1 [0:3, 3:4] : (tensor<3x4xf32>) -> tensor<3x1xf32>
// CHECK-NEXT: %3 = "stablehlo.all_gather"(%2) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = {{[0-9]+}}, type = 1>, replica_groups = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<3x1xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: %4 = stablehlo.iota dim = 0 : tensor<2xi64>
// CHECK-NEXT: %5 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %6 = stablehlo.convert %5 : (tensor<ui32>) -> tensor<i64>
// CHECK-NEXT: %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<i64>) -> tensor<2xi64>
// CHECK-NEXT: %8 = stablehlo.compare LT, %4, %7 : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi1>
// CHECK-NEXT: %9 = stablehlo.broadcast_in_dim %8, dims = [1] : (tensor<2xi1>) -> tensor<3x2xi1>
// CHECK-NEXT: %10 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
// CHECK-NEXT: %11 = stablehlo.select %9, %3, %10 : tensor<3x2xi1>, tensor<3x2xf32>
// CHECK-NEXT: %12 = stablehlo.reduce(%11 init: %arg1) applies stablehlo.add across dimensions = [1] : (tensor<3x2xf32>, tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT: %13 = stablehlo.broadcast_in_dim %12, dims = [0] : (tensor<3xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %14 = stablehlo.add %13, %1 : tensor<3x4xf32>
// CHECK-NEXT: sdy.return %14 : tensor<3x4xf32>
// CHECK-NEXT: } : (tensor<f32>, tensor<3x8xf32>) -> tensor<3x8xf32>
// CHECK-NEXT: return %0 : tensor<3x8xf32>
func.func @cumulative_sum(%a: tensor<3x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<3x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = "stablehlo.reduce_window"(%a, %0) <{padding = dense<[[0, 0], [7, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 8>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %2 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xf32>
  return %1 : tensor<3x8xf32>
}

// A cumulative maximum from the end: the totals are at the start of each shard, and those of later shards count.
// The padding of the last shard is the initial value, which does not change a maximum.
// CHECK-LABEL: func.func @maximum_of_rest(%arg0: tensor<7xi32>{{.*}}) -> (tensor<7xi32>{{.*}})
// CHECK-NEXT: %c = stablehlo.constant dense<-2147483648> : tensor<i32>
// CHECK-NEXT: %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
// CHECK-NEXT: %1 = stablehlo.pad %arg0, %0, low = [0], high = [1], interior = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<7xi32>, tensor<i32>) -> tensor<8xi32>
// CHECK-NEXT: %2 = sdy.manual_computation(%0, %1) in_shardings=[<@mesh, []>, <@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<i32>, %arg2: tensor<4xi32>) {
// CHECK-NEXT: %4 = "stablehlo.reduce_window"(%arg2, %arg1) <{padding = dense<{{\[\[}}0, 3]]> : tensor<1x2xi64>, window_dimensions = array<i64: 4>}> ({
// CHECK-NEXT: ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
// CHECK-NEXT: %18 = stablehlo.maximum %arg3, %arg4 : tensor<i32>
// CHECK-NEXT: stablehlo.return %18 : tensor<i32>
// CHECK-NEXT: }) : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
// CHECK-NEXT: %5 = stablehlo.slice %4 [0:1] : (tensor<4xi32>) -> tensor<1xi32>
// CHECK-NEXT: %6 = "stablehlo.all_gather"(%5) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = {{[0-9]+}}, type = 1>, replica_groups = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<1xi32>) -> tensor<2xi32>
// CHECK-NEXT: %7 = stablehlo.iota dim = 0 : tensor<2xi64>
// CHECK-NEXT: %8 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %9 = stablehlo.convert %8 : (tensor<ui32>) -> tensor<i64>
// CHECK-NEXT: %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<i64>) -> tensor<2xi64>
// CHECK-NEXT: %11 = stablehlo.compare GT, %7, %10 : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi1>
// CHECK-NEXT: %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<2xi1>) -> tensor<2xi1>
// CHECK-NEXT: %13 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<i32>) -> tensor<2xi32>
// CHECK-NEXT: %14 = stablehlo.select %12, %6, %13 : tensor<2xi1>, tensor<2xi32>
// CHECK-NEXT: %15 = stablehlo.reduce(%14 init: %arg1) applies stablehlo.maximum across dimensions = [0] : (tensor<2xi32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT: %16 = stablehlo.broadcast_in_dim %15, dims = [] : (tensor<i32>) -> tensor<4xi32>
// CHECK-NEXT: %17 = stablehlo.maximum %16, %4 : tensor<4xi32>
// CHECK-NEXT: sdy.return %17 : tensor<4xi32>
// CHECK-NEXT: } : (tensor<i32>, tensor<8xi32>) -> tensor<8xi32>
// CHECK-NEXT: %3 = stablehlo.slice %2 [0:7] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xi32>) -> tensor<7xi32>
// CHECK-NEXT: return %3 : tensor<7xi32>
func.func @maximum_of_rest(%a: tensor<7xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<7xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.constant dense<-2147483648> : tensor<i32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<i32>
  %2 = "stablehlo.reduce_window"(%a, %1) <{padding = dense<[[0, 6]]> : tensor<1x2xi64>, window_dimensions = array<i64: 7>}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %3 = stablehlo.maximum %x, %y : tensor<i32>
    stablehlo.return %3 : tensor<i32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<7xi32>, tensor<i32>) -> tensor<7xi32>
  return %2 : tensor<7xi32>
}

// An initial value that is no identity counts once for each element of padding, so the tensor is gathered.
// CHECK-LABEL: func.func @other_initial_value(%arg0: tensor<8xf32>{{.*}}, %arg1: tensor<f32>) -> (tensor<8xf32>{{.*}})
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<8xf32>
// CHECK-NEXT: %1 = "stablehlo.reduce_window"(%0, %arg1) <{padding = dense<{{\[\[}}7, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 8>}> ({
// CHECK-NEXT: ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
// CHECK-NEXT: %3 = stablehlo.add %arg2, %arg3 : tensor<f32>
// CHECK-NEXT: stablehlo.return %3 : tensor<f32>
// CHECK-NEXT: }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %2 = sdy.reshard %1 <@mesh, [{"x"}]> : tensor<8xf32>
// CHECK-NEXT: return %2 : tensor<8xf32>
func.func @other_initial_value(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %i: tensor<f32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = "stablehlo.reduce_window"(%a, %i) <{padding = dense<[[7, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 8>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
