// RUN: sdy-opt %s --split-input-file -sdy-partition-pipeline | filecheck %s

// From shardings on inputs to the program of each device.

sdy.mesh @mesh = <["data"=2, "model"=2]>

// A layer with its batch sharded along "data" and its features along "model". Each device multiplies its rows with
// its columns, then its columns with its rows of the second matrix, and the partial sums are added.
// CHECK-LABEL: func.func @main(%arg0: tensor<4x16xf32>{{.*}}, %arg1: tensor<16x16xf32>{{.*}}, %arg2: tensor<16x16xf32>{{.*}}) -> (tensor<4x16xf32>{{.*}})
// CHECK-NEXT: %0 = stablehlo.dot %arg0, %arg1{{.*}} : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
// CHECK-NEXT: %1 = stablehlo.tanh %0{{.*}} : tensor<4x16xf32>
// CHECK-NEXT: %2 = stablehlo.dot %1, %arg2{{.*}} : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
// CHECK-NEXT: %3 = "stablehlo.all_reduce"(%2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{\[\[}}0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
// CHECK-NEXT: ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
// CHECK-NEXT: %4 = stablehlo.add %arg3, %arg4 : tensor<f32>
// CHECK-NEXT: stablehlo.return %4 : tensor<f32>
// CHECK-NEXT: }) : (tensor<4x16xf32>) -> tensor<4x16xf32>
// CHECK-NEXT: return %3 : tensor<4x16xf32>
func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %w: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %v: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> tensor<8x16xf32> {
  %0 = stablehlo.dot %x, %w : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %1 = stablehlo.tanh %0 : tensor<8x32xf32>
  %2 = stablehlo.dot %1, %v : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  return %2 : tensor<8x16xf32>
}


// -----

sdy.mesh @mesh = <["data"=2]>

// A dimension that counts from the end is sorted as a whole, too.
// CHECK-LABEL: func.func @main(%arg0: tensor<4x4xf32>
// CHECK-NEXT: %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64,
// CHECK-NEXT: %1 = "stablehlo.sort"(%0) <{dimension = -1 : i64}>
// CHECK:      (tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @main(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}]>}) -> (tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}]>}) {
  %0 = "stablehlo.sort"(%x) <{dimension = -1 : i64}> ({
  ^bb0(%lhs: tensor<f32>, %rhs: tensor<f32>):
    %1 = stablehlo.compare LT, %lhs, %rhs : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"data"}]>]>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
