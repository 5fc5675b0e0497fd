// RUN: sdy-opt %s -sdy-convert-global-to-local="per-dim-all-gather=true enable-rgv3=false" | filecheck %s --check-prefix=PER-DIM
// RUN: sdy-opt %s -sdy-convert-global-to-local="combine-multi-dimension-reduce-scatter=true enable-rgv3=false" | filecheck %s --check-prefix=COMBINE
// RUN: sdy-opt %s -sdy-convert-global-to-local=enable-rgv3 --sdy-version=jaxlib-0.10.2 | filecheck %s --check-prefix=AXES
// RUN: sdy-opt %s -sdy-convert-global-to-local --sdy-version=jaxlib-0.11.2 | filecheck %s --check-prefix=I64
// RUN: sdy-opt %s -sdy-convert-global-to-local | filecheck %s --check-prefix=LATER
// RUN: sdy-opt %s -sdy-convert-global-to-local="replica-count=4 enable-rgv3=false" | filecheck %s --check-prefix=REPLICAS

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Dimensions can be gathered one by one, the last one first. Groups can be given as axes of the mesh.
// PER-DIM-LABEL: func.func @gather(%arg0: tensor<2x2xf32>{{.*}}) -> tensor<4x4xf32>
// PER-DIM-NEXT: %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{\[\[}}0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<2x2xf32>) -> tensor<2x4xf32>
// PER-DIM-NEXT: %1 = "stablehlo.all_gather"(%0) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<{{\[\[}}0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<2x4xf32>) -> tensor<4x4xf32>
// PER-DIM-NEXT: return %1 : tensor<4x4xf32>
// COMBINE-LABEL: func.func @gather(%arg0: tensor<2x2xf32>{{.*}}) -> tensor<4x4xf32>
// COMBINE-NEXT: %0 = stablehlo.reshape %arg0 : (tensor<2x2xf32>) -> tensor<1x2x2xf32>
// COMBINE-NEXT: %1 = "stablehlo.all_gather"(%0) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{\[\[}}0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<1x2x2xf32>) -> tensor<4x2x2xf32>
// COMBINE-NEXT: %2 = stablehlo.reshape %1 : (tensor<4x2x2xf32>) -> tensor<2x2x2x2xf32>
// COMBINE-NEXT: %3 = stablehlo.transpose %2, dims = [0, 2, 1, 3] : (tensor<2x2x2x2xf32>) -> tensor<2x2x2x2xf32>
// COMBINE-NEXT: %4 = stablehlo.reshape %3 : (tensor<2x2x2x2xf32>) -> tensor<4x4xf32>
// COMBINE-NEXT: return %4 : tensor<4x4xf32>
// AXES-LABEL: func.func @gather(%arg0: tensor<2x2xf32>{{.*}}) -> tensor<4x4xf32>
// AXES-NEXT: %0 = stablehlo.reshape %arg0 : (tensor<2x2xf32>) -> tensor<1x2x2xf32>
// AXES-NEXT: %1 = "stablehlo.all_gather"(%0) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#sdy<axis_ref"x">, #sdy<axis_ref"y">]>, use_global_device_ids}> : (tensor<1x2x2xf32>) -> tensor<4x2x2xf32>
// AXES-NEXT: %2 = stablehlo.reshape %1 : (tensor<4x2x2xf32>) -> tensor<2x2x2x2xf32>
// AXES-NEXT: %3 = stablehlo.transpose %2, dims = [0, 2, 1, 3] : (tensor<2x2x2x2xf32>) -> tensor<2x2x2x2xf32>
// AXES-NEXT: %4 = stablehlo.reshape %3 : (tensor<2x2x2x2xf32>) -> tensor<4x4xf32>
// AXES-NEXT: return %4 : tensor<4x4xf32>
// REPLICAS-LABEL: func.func @gather(%arg0: tensor<2x2xf32>{{.*}}) -> tensor<4x4xf32>
// REPLICAS-NEXT: %0 = stablehlo.reshape %arg0 : (tensor<2x2xf32>) -> tensor<1x2x2xf32>
// REPLICAS-NEXT: %1 = "stablehlo.all_gather"(%0) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{\[\[}}0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<1x2x2xf32>) -> tensor<4x2x2xf32>
// REPLICAS-NEXT: %2 = stablehlo.reshape %1 : (tensor<4x2x2xf32>) -> tensor<2x2x2x2xf32>
// REPLICAS-NEXT: %3 = stablehlo.transpose %2, dims = [0, 2, 1, 3] : (tensor<2x2x2x2xf32>) -> tensor<2x2x2x2xf32>
// REPLICAS-NEXT: %4 = stablehlo.reshape %3 : (tensor<2x2x2x2xf32>) -> tensor<4x4xf32>
// REPLICAS-NEXT: return %4 : tensor<4x4xf32>
func.func @gather(%a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<4x4xf32> {
  %0 = sdy.all_gather [{"x"}, {"y"}] %a out_sharding=<@mesh, [{}, {}]> : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// Dimensions can be scattered by one collective. The default reduces whole tensors and slices them.
// PER-DIM-LABEL: func.func @scatter(%arg0: tensor<4x4xf32>{{.*}}) -> (tensor<2x2xf32>{{.*}})
// PER-DIM-NEXT: %0 = "stablehlo.all_reduce"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, replica_groups = dense<{{\[\[}}0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
// PER-DIM-NEXT: ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
// PER-DIM-NEXT: %8 = stablehlo.add %arg1, %arg2 : tensor<f32>
// PER-DIM-NEXT: stablehlo.return %8 : tensor<f32>
// PER-DIM-NEXT: }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
// PER-DIM-NEXT: %1 = stablehlo.partition_id : tensor<ui32>
// PER-DIM-NEXT: %c = stablehlo.constant dense<[0, 0, 2, 2]> : tensor<4xi32>
// PER-DIM-NEXT: %2 = stablehlo.dynamic_slice %c, %1, sizes = [1] : (tensor<4xi32>, tensor<ui32>) -> tensor<1xi32>
// PER-DIM-NEXT: %3 = stablehlo.reshape %2 : (tensor<1xi32>) -> tensor<i32>
// PER-DIM-NEXT: %4 = stablehlo.partition_id : tensor<ui32>
// PER-DIM-NEXT: %c_0 = stablehlo.constant dense<[0, 2, 0, 2]> : tensor<4xi32>
// PER-DIM-NEXT: %5 = stablehlo.dynamic_slice %c_0, %4, sizes = [1] : (tensor<4xi32>, tensor<ui32>) -> tensor<1xi32>
// PER-DIM-NEXT: %6 = stablehlo.reshape %5 : (tensor<1xi32>) -> tensor<i32>
// PER-DIM-NEXT: %7 = stablehlo.dynamic_slice %0, %3, %6, sizes = [2, 2] : (tensor<4x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xf32>
// PER-DIM-NEXT: return %7 : tensor<2x2xf32>
// COMBINE-LABEL: func.func @scatter(%arg0: tensor<4x4xf32>{{.*}}) -> (tensor<2x2xf32>{{.*}})
// COMBINE-NEXT: %0 = stablehlo.reshape %arg0 : (tensor<4x4xf32>) -> tensor<2x2x2x2xf32>
// COMBINE-NEXT: %1 = stablehlo.transpose %0, dims = [0, 2, 1, 3] : (tensor<2x2x2x2xf32>) -> tensor<2x2x2x2xf32>
// COMBINE-NEXT: %2 = stablehlo.reshape %1 : (tensor<2x2x2x2xf32>) -> tensor<4x2x2xf32>
// COMBINE-NEXT: %3 = "stablehlo.reduce_scatter"(%2) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<{{\[\[}}0, 1, 2, 3]]> : tensor<1x4xi64>, scatter_dimension = 0 : i64, use_global_device_ids}> ({
// COMBINE-NEXT: ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
// COMBINE-NEXT: %5 = stablehlo.add %arg1, %arg2 : tensor<f32>
// COMBINE-NEXT: stablehlo.return %5 : tensor<f32>
// COMBINE-NEXT: }) : (tensor<4x2x2xf32>) -> tensor<1x2x2xf32>
// COMBINE-NEXT: %4 = stablehlo.reshape %3 : (tensor<1x2x2xf32>) -> tensor<2x2xf32>
// COMBINE-NEXT: return %4 : tensor<2x2xf32>
// AXES-LABEL: func.func @scatter(%arg0: tensor<4x4xf32>{{.*}}) -> (tensor<2x2xf32>{{.*}})
// AXES-NEXT: %0 = "stablehlo.all_reduce"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#sdy<axis_ref"x">, #sdy<axis_ref"y">]>, use_global_device_ids}> ({
// AXES-NEXT: ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
// AXES-NEXT: %10 = stablehlo.add %arg1, %arg2 : tensor<f32>
// AXES-NEXT: stablehlo.return %10 : tensor<f32>
// AXES-NEXT: }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
// AXES-NEXT: %1 = stablehlo.partition_id : tensor<ui32>
// AXES-NEXT: %2 = stablehlo.convert %1 : (tensor<ui32>) -> tensor<i64>
// AXES-NEXT: %c = stablehlo.constant dense<[0, 0, 2, 2]> : tensor<4xi64>
// AXES-NEXT: %3 = stablehlo.dynamic_slice %c, %2, sizes = [1] : (tensor<4xi64>, tensor<i64>) -> tensor<1xi64>
// AXES-NEXT: %4 = stablehlo.reshape %3 : (tensor<1xi64>) -> tensor<i64>
// AXES-NEXT: %5 = stablehlo.partition_id : tensor<ui32>
// AXES-NEXT: %6 = stablehlo.convert %5 : (tensor<ui32>) -> tensor<i64>
// AXES-NEXT: %c_0 = stablehlo.constant dense<[0, 2, 0, 2]> : tensor<4xi64>
// AXES-NEXT: %7 = stablehlo.dynamic_slice %c_0, %6, sizes = [1] : (tensor<4xi64>, tensor<i64>) -> tensor<1xi64>
// AXES-NEXT: %8 = stablehlo.reshape %7 : (tensor<1xi64>) -> tensor<i64>
// AXES-NEXT: %9 = stablehlo.dynamic_slice %0, %4, %8, sizes = [2, 2] : (tensor<4x4xf32>, tensor<i64>, tensor<i64>) -> tensor<2x2xf32>
// AXES-NEXT: return %9 : tensor<2x2xf32>
// REPLICAS-LABEL: func.func @scatter(%arg0: tensor<4x4xf32>{{.*}}) -> (tensor<2x2xf32>{{.*}})
// REPLICAS-NEXT: %0 = "stablehlo.all_reduce"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<{{\[\[}}0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
// REPLICAS-NEXT: ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
// REPLICAS-NEXT: %8 = stablehlo.add %arg1, %arg2 : tensor<f32>
// REPLICAS-NEXT: stablehlo.return %8 : tensor<f32>
// REPLICAS-NEXT: }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
// REPLICAS-NEXT: %1 = stablehlo.replica_id : tensor<ui32>
// REPLICAS-NEXT: %c = stablehlo.constant dense<[0, 0, 2, 2]> : tensor<4xi32>
// REPLICAS-NEXT: %2 = stablehlo.dynamic_slice %c, %1, sizes = [1] : (tensor<4xi32>, tensor<ui32>) -> tensor<1xi32>
// REPLICAS-NEXT: %3 = stablehlo.reshape %2 : (tensor<1xi32>) -> tensor<i32>
// REPLICAS-NEXT: %4 = stablehlo.replica_id : tensor<ui32>
// REPLICAS-NEXT: %c_0 = stablehlo.constant dense<[0, 2, 0, 2]> : tensor<4xi32>
// REPLICAS-NEXT: %5 = stablehlo.dynamic_slice %c_0, %4, sizes = [1] : (tensor<4xi32>, tensor<ui32>) -> tensor<1xi32>
// REPLICAS-NEXT: %6 = stablehlo.reshape %5 : (tensor<1xi32>) -> tensor<i32>
// REPLICAS-NEXT: %7 = stablehlo.dynamic_slice %0, %3, %6, sizes = [2, 2] : (tensor<4x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xf32>
// REPLICAS-NEXT: return %7 : tensor<2x2xf32>
func.func @scatter(%a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  %0 = sdy.reduce_scatter [{"x"}, {"y"}] %a out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// Axes are attributes of the sdy dialect in jaxlib 0.10.2, and of the stablehlo dialect later. Since
// jaxlib 0.11.2, groups are given by axes by default.
// AXES-LABEL: func.func @sub_axis
// AXES-NEXT: %0 = {{.*}} replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh_4, axes = [#sdy<axis_ref"z":(1)2>]>
// LATER-LABEL: func.func @gather
// LATER: {{.*}} replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">, #stablehlo.axis_ref<name = "y">]>
// LATER-LABEL: func.func @sub_axis
// LATER-NEXT: %0 = {{.*}} replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh_4, axes = [#stablehlo.axis_ref<name = "z", sub_axis_info = (1)2>]>
sdy.mesh @mesh_4 = <["z"=4]>
func.func @sub_axis(%a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh_4, [{"z":(1)2}, {}]>}) -> tensor<4x4xf32> {
  %0 = sdy.all_gather [{"z":(1)2}, {}] %a out_sharding=<@mesh_4, [{}, {}]> : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// StableHLO has a form of its own for meshes that are inlined.
// AXES-LABEL: func.func @inlined_mesh
// AXES-NEXT: %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 4, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "x", size = 2>]>, axes = [#stablehlo.axis_ref<name = "x">]>, use_global_device_ids}> : (tensor<2x4xf32>) -> tensor<4x4xf32>
func.func @inlined_mesh(%a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}, {}]>}) -> tensor<4x4xf32> {
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<mesh<["x"=2]>, [{}, {}]> : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// Consecutive sub-axes are merged.
// AXES-LABEL: func.func @merged_sub_axes
// AXES: axes = [#sdy<axis_ref"z":(1)2>, #sdy<axis_ref"z":(2)2>]>
// LATER-LABEL: func.func @merged_sub_axes
// LATER: axes = [#stablehlo.axis_ref<name = "z">]>
func.func @merged_sub_axes(%a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh_4, [{"z":(1)2}, {"z":(2)2}]>}) -> tensor<4x4xf32> {
  %0 = sdy.all_gather [{"z":(1)2}, {"z":(2)2}] %a out_sharding=<@mesh_4, [{}, {}]> : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// A device looks up offsets by its id, as `i32` unless they are larger. Before jaxlib 0.12.0.1, they are `i64`.
// I64-LABEL: func.func @slice(
// I64-NEXT: %0 = stablehlo.partition_id : tensor<ui32>
// I64-NEXT: %1 = stablehlo.convert %0 : (tensor<ui32>) -> tensor<i64>
// I64-NEXT: %c = stablehlo.constant dense<[0, 0, 4, 4]> : tensor<4xi64>
// LATER-LABEL: func.func @slice(
// LATER-NEXT: %0 = stablehlo.partition_id : tensor<ui32>
// LATER-NEXT: %c = stablehlo.constant dense<[0, 0, 4, 4]> : tensor<4xi32>
// LATER-NEXT: %1 = stablehlo.dynamic_slice %c, %0, sizes = [1] : (tensor<4xi32>, tensor<ui32>) -> tensor<1xi32>
// LATER-NEXT: %2 = stablehlo.reshape %1 : (tensor<1xi32>) -> tensor<i32>
// LATER-NEXT: %3 = stablehlo.dynamic_slice %arg0, %2, sizes = [4] : (tensor<8xf32>, tensor<i32>) -> tensor<4xf32>
func.func @slice(%a: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = sdy.all_slice [{"x"}] %a out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// LATER-LABEL: func.func @large_offsets
// LATER: %c = stablehlo.constant dense<[0, 0, 4294967296, 4294967296]> : tensor<4xi64>
func.func @large_offsets(%a: tensor<8589934592xi8>) -> (tensor<8589934592xi8> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = sdy.all_slice [{"x"}] %a out_sharding=<@mesh, [{"x"}]> : tensor<8589934592xi8>
  return %0 : tensor<8589934592xi8>
}
