// RUN: sdy-opt %s | filecheck %s
// RUN: sdy-opt %s | sdy-opt | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Replica groups are lists of process ids.
// CHECK-LABEL: func.func @gather
func.func @gather(%a: tensor<4x8xf32>) -> tensor<4x16xf32> {
  // CHECK-NEXT: "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<{{\[\[}}0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}>
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<type = 0, handle = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// They may also be axes of a mesh, referenced by name or inlined.
// CHECK-LABEL: func.func @along_axes
func.func @along_axes(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "x", size = 4>], device_ids=dense<[3, 2, 1, 0]> : tensor<4xi64>>, axes = [#stablehlo.axis_ref<name = "x", sub_axis_info = (1)2>]>
  %1 = "stablehlo.collective_broadcast"(%0) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "x", size = 4>], device_ids=dense<[3, 2, 1, 0]> : tensor<4xi64>>, axes = [#stablehlo.axis_ref<name = "x", sub_axis_info = (1)2>]>}> : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// The groups of an all_reduce may have different sizes: -1 is padding.
// CHECK-LABEL: func.func @uneven_groups
func.func @uneven_groups(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: "stablehlo.all_reduce"(%arg0) <{replica_groups = dense<{{\[\[}}0, 1], [2, -1]]> : tensor<2x2xi64>}> ({
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @exchange
func.func @exchange(%a: tensor<4x8xf32>) -> tensor<2x8xf32> {
  // CHECK-NEXT: "stablehlo.all_to_all"(%arg0) <{concat_dimension = 1 : i64, replica_groups = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4x8xf32>) -> tensor<2x16xf32>
  %0 = "stablehlo.all_to_all"(%a) <{concat_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4x8xf32>) -> tensor<2x16xf32>
  // CHECK-NEXT: "stablehlo.reduce_scatter"(%0) <{replica_groups = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>, scatter_dimension = 1 : i64}> ({
  %1 = "stablehlo.reduce_scatter"(%0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 1 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<2x16xf32>) -> tensor<2x8xf32>
  return %1 : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @in_the_background
func.func @in_the_background(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %0 = "stablehlo.async_start"(%arg0) ({
  // CHECK: }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%x: tensor<4xf32>):
    %1 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  // CHECK: "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  %2 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// Missing infeed and outfeed configurations are filled in.
// CHECK-LABEL: func.func @transfer
func.func @transfer(%a: tensor<4xf32>, %t: !stablehlo.token) -> !stablehlo.token {
  // CHECK-NEXT: %0:2 = "stablehlo.infeed"(%arg1) <{infeed_config = "", layout = {{\[\[}}0]]}>
  %0:2 = "stablehlo.infeed"(%t) <{layout = [[0]]}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  // CHECK-NEXT: %1 = "stablehlo.outfeed"(%arg0, %0#1) <{outfeed_config = "there"}>
  %1 = "stablehlo.outfeed"(%a, %0#1) <{outfeed_config = "there"}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  // CHECK-NEXT: "stablehlo.send"(%arg0, %1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}>
  %2 = "stablehlo.send"(%a, %1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  // CHECK-NEXT: "stablehlo.recv"(%2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true}>
  %3:2 = "stablehlo.recv"(%2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  return %3#1 : !stablehlo.token
}
