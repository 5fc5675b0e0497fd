// RUN: sdy-opt %s -sdy-partition-pipeline | filecheck %s

// Operations that need elements of other shards run on whole tensors.

sdy.mesh @mesh = <["data"=2, "model"=2]>

// A rotation by one element: the two slices cross the border between shards, so they get the whole tensor,
// which is gathered once.
// CHECK-LABEL: func.func @main(%arg0: tensor<4xf32>{{.*}}) -> (tensor<4xf32>{{.*}})
// CHECK-NEXT: %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{\[\[}}0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
// CHECK-NEXT: %1 = stablehlo.slice %0 [1:8]{{.*}} : (tensor<8xf32>) -> tensor<7xf32>
// CHECK-NEXT: %2 = stablehlo.slice %0 [0:1]{{.*}} : (tensor<8xf32>) -> tensor<1xf32>
// CHECK-NEXT: %3 = stablehlo.concatenate %1, %2, dim = 0{{.*}} : (tensor<7xf32>, tensor<1xf32>) -> tensor<8xf32>
// CHECK-NEXT: %4 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %5 = stablehlo.convert %4 : (tensor<ui32>) -> tensor<i64>
// CHECK-NEXT: %c = stablehlo.constant dense<[0, 0, 4, 4]> : tensor<4xi64>
// CHECK-NEXT: %6 = stablehlo.dynamic_slice %c, %5, sizes = [1] : (tensor<4xi64>, tensor<i64>) -> tensor<1xi64>
// CHECK-NEXT: %7 = stablehlo.reshape %6 : (tensor<1xi64>) -> tensor<i64>
// CHECK-NEXT: %8 = stablehlo.dynamic_slice %3, %7, sizes = [4] : (tensor<8xf32>, tensor<i64>) -> tensor<4xf32>
// CHECK-NEXT: return %8 : tensor<4xf32>
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}) {
  %0 = stablehlo.slice %x [1:8] : (tensor<8xf32>) -> tensor<7xf32>
  %1 = stablehlo.slice %x [0:1] : (tensor<8xf32>) -> tensor<1xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<7xf32>, tensor<1xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

