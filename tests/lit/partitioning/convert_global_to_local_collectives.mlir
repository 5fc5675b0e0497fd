// RUN: sdy-opt %s -sdy-convert-global-to-local=enable-rgv3=false | filecheck %s

// Each sdy collective becomes one of StableHLO. Its replica groups list the devices that differ along its axes.

sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @reversed = <["x"=2, "y"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>

// Device 0 has the first shard of its group, device 4 the second.
// CHECK-LABEL: func.func @gather(%arg0: tensor<4x8xf32>{{.*}}) -> tensor<8x8xf32>
// CHECK-NEXT: %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{\[\[}}0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, use_global_device_ids}> : (tensor<4x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: return %0 : tensor<8x8xf32>
func.func @gather(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Several dimensions are gathered by one collective along a new dimension, and then transposed locally.
// CHECK-LABEL: func.func @gather_dimensions(%arg0: tensor<4x2xf32>{{.*}}) -> tensor<8x8xf32>
// CHECK-NEXT: %0 = stablehlo.reshape %arg0 : (tensor<4x2xf32>) -> tensor<1x4x2xf32>
// CHECK-NEXT: %1 = "stablehlo.all_gather"(%0) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<{{\[\[}}0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> : (tensor<1x4x2xf32>) -> tensor<8x4x2xf32>
// CHECK-NEXT: %2 = stablehlo.reshape %1 : (tensor<8x4x2xf32>) -> tensor<2x4x4x2xf32>
// CHECK-NEXT: %3 = stablehlo.transpose %2, dims = [0, 2, 1, 3] : (tensor<2x4x4x2xf32>) -> tensor<2x4x4x2xf32>
// CHECK-NEXT: %4 = stablehlo.reshape %3 : (tensor<2x4x4x2xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: return %4 : tensor<8x8xf32>
func.func @gather_dimensions(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<8x8xf32> {
  %0 = sdy.all_gather [{"x"}, {"y"}] %a out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// "y":(1)2 is the major half of "y": devices 0 and 2 differ along it.
// CHECK-LABEL: func.func @gather_sub_axis(%arg0: tensor<4x8xf32>{{.*}}) -> tensor<8x8xf32>
// CHECK-NEXT: %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, replica_groups = dense<{{\[\[}}0, 2], [1, 3], [4, 6], [5, 7]]> : tensor<4x2xi64>, use_global_device_ids}> : (tensor<4x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: return %0 : tensor<8x8xf32>
func.func @gather_sub_axis(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(1)2}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.all_gather [{"y":(1)2}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Groups contain the ids of devices, in the order of their coordinates.
// CHECK-LABEL: func.func @gather_reversed(%arg0: tensor<4x8xf32>{{.*}}) -> tensor<8x8xf32>
// CHECK-NEXT: %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 4, type = 1>, replica_groups = dense<{{\[\[}}7, 3], [6, 2], [5, 1], [4, 0]]> : tensor<4x2xi64>, use_global_device_ids}> : (tensor<4x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: return %0 : tensor<8x8xf32>
func.func @gather_reversed(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@reversed, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@reversed, [{}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Each device looks up the offset of its shard in a table, and slices. No data is sent.
// CHECK-LABEL: func.func @slice(%arg0: tensor<8x8xf32>) -> (tensor<4x8xf32>{{.*}})
// CHECK-NEXT: %0 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %c = stablehlo.constant dense<[0, 0, 0, 0, 4, 4, 4, 4]> : tensor<8xi32>
// CHECK-NEXT: %1 = stablehlo.dynamic_slice %c, %0, sizes = [1] : (tensor<8xi32>, tensor<ui32>) -> tensor<1xi32>
// CHECK-NEXT: %2 = stablehlo.reshape %1 : (tensor<1xi32>) -> tensor<i32>
// CHECK-NEXT: %c_0 = stablehlo.constant dense<0> : tensor<i32>
// CHECK-NEXT: %3 = stablehlo.dynamic_slice %arg0, %2, %c_0, sizes = [4, 8] : (tensor<8x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
// CHECK-NEXT: return %3 : tensor<4x8xf32>
func.func @slice(%a: tensor<8x8xf32>) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sdy.all_slice [{"x"}, {}] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// An all-reduce adds the arrays of each group, since its operand is not the result of another reduction.
// CHECK-LABEL: func.func @reduce(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: %0 = "stablehlo.all_reduce"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, replica_groups = dense<{{\[\[}}0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, use_global_device_ids}> ({
// CHECK-NEXT: ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
// CHECK-NEXT: %1 = stablehlo.add %arg1, %arg2 : tensor<f32>
// CHECK-NEXT: stablehlo.return %1 : tensor<f32>
// CHECK-NEXT: }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: return %0 : tensor<8x8xf32>
func.func @reduce(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Along no axes, nothing is communicated.
// CHECK-LABEL: func.func @reduce_scatter_along_no_axes(
// CHECK-NEXT:    return %arg0 : tensor<8x8xf32>
func.func @reduce_scatter_along_no_axes(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = sdy.reduce_scatter [{}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// A reduce-scatter does so, too; each device gets its shard of the sum.
// CHECK-LABEL: func.func @reduce_scatter(%arg0: tensor<8x8xf32>{{.*}}) -> (tensor<4x8xf32>{{.*}})
// CHECK-NEXT: %0 = "stablehlo.reduce_scatter"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 6, type = 1>, replica_groups = dense<{{\[\[}}0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, scatter_dimension = 0 : i64, use_global_device_ids}> ({
// CHECK-NEXT: ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
// CHECK-NEXT: %1 = stablehlo.add %arg1, %arg2 : tensor<f32>
// CHECK-NEXT: stablehlo.return %1 : tensor<f32>
// CHECK-NEXT: }) : (tensor<8x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: return %0 : tensor<4x8xf32>
func.func @reduce_scatter(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sdy.reduce_scatter [{"x"}, {}] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// The target dimension is split, and the source dimension is concatenated.
// CHECK-LABEL: func.func @all_to_all(%arg0: tensor<4x8xf32>{{.*}}) -> (tensor<8x4xf32>{{.*}})
// CHECK-NEXT: %0 = "stablehlo.all_to_all"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 7, type = 1>, concat_dimension = 0 : i64, replica_groups = dense<{{\[\[}}0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, split_count = 2 : i64, split_dimension = 1 : i64}> : (tensor<4x8xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: return %0 : tensor<8x4xf32>
func.func @all_to_all(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = sdy.all_to_all [{"x"}: 0->1] %a out_sharding=<@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Two moves at once are one collective as well.
// CHECK-LABEL: func.func @all_to_all_twice(%arg0: tensor<2x8x1x8xf32>{{.*}}) -> (tensor<4x4x4x2xf32>{{.*}})
// CHECK-NEXT: %0 = stablehlo.reshape %arg0 : (tensor<2x8x1x8xf32>) -> tensor<2x2x4x1x4x2xf32>
// CHECK-NEXT: %1 = stablehlo.transpose %0, dims = [1, 4, 0, 2, 3, 5] : (tensor<2x2x4x1x4x2xf32>) -> tensor<2x4x2x4x1x2xf32>
// CHECK-NEXT: %2 = stablehlo.reshape %1 : (tensor<2x4x2x4x1x2xf32>) -> tensor<8x2x4x1x2xf32>
// CHECK-NEXT: %3 = "stablehlo.all_to_all"(%2) <{channel_handle = #stablehlo.channel_handle<handle = 8, type = 1>, concat_dimension = 0 : i64, replica_groups = dense<{{\[\[}}0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, split_count = 8 : i64, split_dimension = 0 : i64}> : (tensor<8x2x4x1x2xf32>) -> tensor<8x2x4x1x2xf32>
// CHECK-NEXT: %4 = stablehlo.reshape %3 : (tensor<8x2x4x1x2xf32>) -> tensor<2x4x2x4x1x2xf32>
// CHECK-NEXT: %5 = stablehlo.transpose %4, dims = [0, 2, 3, 1, 4, 5] : (tensor<2x4x2x4x1x2xf32>) -> tensor<2x2x4x4x1x2xf32>
// CHECK-NEXT: %6 = stablehlo.reshape %5 : (tensor<2x2x4x4x1x2xf32>) -> tensor<4x4x4x2xf32>
// CHECK-NEXT: return %6 : tensor<4x4x4x2xf32>
func.func @all_to_all_twice(%a: tensor<4x8x4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {"y"}, {}]>}) -> (tensor<4x8x4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {"y"}]>}) {
  %0 = sdy.all_to_all [{"x"}: 0->1, {"y"}: 2->3] %a out_sharding=<@mesh, [{}, {"x"}, {}, {"y"}]> : tensor<4x8x4x8xf32>
  return %0 : tensor<4x8x4x8xf32>
}

// Every device sends its shard to the device that has this shard afterwards.
// CHECK-LABEL: func.func @permute(%arg0: tensor<4x8xf32>{{.*}}) -> (tensor<4x8xf32>{{.*}})
// CHECK-NEXT: %0 = "stablehlo.collective_permute"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 9, type = 1>, source_target_pairs = dense<{{\[\[}}0, 0], [1, 1], [2, 4], [3, 5], [4, 2], [5, 3], [6, 6], [7, 7]]> : tensor<8x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: return %0 : tensor<4x8xf32>
func.func @permute(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(1)2}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sdy.collective_permute %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// The meshes may differ in the order of devices.
// CHECK-LABEL: func.func @permute_devices(%arg0: tensor<4x8xf32>{{.*}}) -> (tensor<4x8xf32>{{.*}})
// CHECK-NEXT: %0 = "stablehlo.collective_permute"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 10, type = 1>, source_target_pairs = dense<{{\[\[}}0, 7], [1, 6], [2, 5], [3, 4], [4, 3], [5, 2], [6, 1], [7, 0]]> : tensor<8x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: return %0 : tensor<4x8xf32>
func.func @permute_devices(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@reversed, [{"x"}, {}]>}) {
  %0 = sdy.collective_permute %a out_sharding=<@reversed, [{"x"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
