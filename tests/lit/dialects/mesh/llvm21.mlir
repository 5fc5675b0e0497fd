// RUN: sdy-opt %s -mesh-version=21 | filecheck %s
// RUN: sdy-opt %s -mesh-version=21 | sdy-opt - -mesh-version=21 | filecheck %s

mesh.mesh @g(shape = 2x3)
mesh.mesh @line(shape = 4)

// Sharding values. Halo sizes and offsets may be static or dynamic.
// CHECK-LABEL: func.func @sharding
func.func @sharding(%h: i64) {
  // CHECK-NEXT: mesh.sharding @g split_axes = {{\[\[}}], [1, 0]] {tag} : !mesh.sharding
  %0 = mesh.sharding @g split_axes = [[], [1, 0]] {tag} : !mesh.sharding
  // CHECK-NEXT: mesh.sharding @g split_axes = {{\[\[}}0]] partial =  max [1] : !mesh.sharding
  %1 = mesh.sharding @g split_axes = [[0]] partial = max [1] : !mesh.sharding
  // CHECK-NEXT: mesh.sharding @g split_axes = {{\[\[}}0]] halo_sizes = [1, %arg0] : !mesh.sharding
  %2 = mesh.sharding @g split_axes = [[0]] halo_sizes = [1, %h] : !mesh.sharding
  // CHECK-NEXT: mesh.sharding @line split_axes = {{\[\[}}], [0]] sharded_dims_offsets = [0, 2, %arg0, 9, 14] : !mesh.sharding
  %3 = mesh.sharding @line split_axes = [[], [0]] sharded_dims_offsets = [0, 2, %h, 9, 14] : !mesh.sharding
  return
}

// An annotation with a sharding operand, and a query of its sharding.
// CHECK-LABEL: func.func @shard
func.func @shard(%t: tensor<6x4xf32>) -> !mesh.sharding {
  // CHECK-NEXT: %[[S:.*]] = mesh.sharding
  %s = mesh.sharding @g split_axes = [[0]] : !mesh.sharding
  // CHECK-NEXT: %[[T:.*]] = mesh.shard %arg0 to %[[S]] annotate_for_users : tensor<6x4xf32>
  %0 = mesh.shard %t to %s annotate_for_users : tensor<6x4xf32>
  // CHECK-NEXT: %0 = mesh.get_sharding %[[T]] : tensor<6x4xf32> -> !mesh.sharding
  %1 = mesh.get_sharding %0 : tensor<6x4xf32> -> !mesh.sharding
  return %1 : !mesh.sharding
}

// CHECK-LABEL: func.func @shard_shape
func.func @shard_shape(%i: index) {
  %s = mesh.sharding @g split_axes = [[0]] : !mesh.sharding
  // CHECK: mesh.shard_shape dims = [6, %arg0] sharding = %{{.*}} device = [%arg0, 2] : index, index
  %0:2 = mesh.shard_shape dims = [6, %i] sharding = %s device = [%i, 2] : index, index
  return
}

// CHECK-LABEL: func.func @neighbors
func.func @neighbors(%i: index, %j: index) {
  // CHECK-NEXT: %down_linear_idx, %up_linear_idx = mesh.neighbors_linear_indices on @g[%arg0, %arg1] split_axes = [1] : index, index
  %0, %1 = mesh.neighbors_linear_indices on @g[%i, %j] split_axes = [1] : index, index
  return
}

// CHECK-LABEL: func.func @update_halo
func.func @update_halo(%t: tensor<8x4xf32>, %m: memref<8x8xf32>, %h: i64) {
  // CHECK-NEXT: mesh.update_halo %arg0 on @line split_axes = {{\[\[}}0]] halo_sizes = [1, %arg2] : tensor<8x4xf32>
  %0 = mesh.update_halo %t on @line split_axes = [[0]] halo_sizes = [1, %h] : tensor<8x4xf32>
  // CHECK-NEXT: mesh.update_halo %arg1 on @g split_axes = {{\[\[}}], [0]] : memref<8x8xf32>
  %1 = mesh.update_halo %m on @g split_axes = [[], [0]] : memref<8x8xf32>
  return
}

// Reductions are bare keywords.
// CHECK-LABEL: func.func @reductions
func.func @reductions(%t: tensor<6x4xf32>) {
  // CHECK-NEXT: mesh.all_reduce %arg0 on @g mesh_axes = [0] reduction =  max : tensor<6x4xf32> -> tensor<6x4xf32>
  %0 = mesh.all_reduce %t on @g mesh_axes = [0] reduction = max : tensor<6x4xf32> -> tensor<6x4xf32>
  // CHECK-NEXT: mesh.reduce %arg0 on @g reduction =  bitwise_and root = [] : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %1 = mesh.reduce %t on @g reduction = bitwise_and root = [] : (tensor<6x4xf32>) -> tensor<6x4xf32>
  // CHECK-NEXT: mesh.reduce_scatter %arg0 on @g mesh_axes = [0] reduction =  average scatter_axis = 1 : tensor<6x4xf32> -> tensor<6x2xf32>
  %2 = mesh.reduce_scatter %t on @g mesh_axes = [0] reduction = average scatter_axis = 1 : tensor<6x4xf32> -> tensor<6x2xf32>
  return
}
