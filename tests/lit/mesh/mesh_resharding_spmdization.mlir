// RUN: sdy-opt %s -test-mesh-resharding-spmdization | filecheck %s

mesh.mesh @line(shape = 3)
mesh.mesh @g(shape = 2x3)

// Slicing needs no communication.
// CHECK-LABEL: func.func @split
func.func @split(%t: tensor<6x9xf32>) -> tensor<6x9xf32> {
  // CHECK-NEXT: %[[S:.*]] = mesh.all_slice %arg0 on @line mesh_axes = [0] slice_axis = 0 : tensor<6x9xf32> -> tensor<2x9xf32>
  // CHECK-NEXT: builtin.unrealized_conversion_cast %[[S]] : tensor<2x9xf32> to tensor<6x9xf32>
  %0 = mesh.shard %t to <@line, [[]]> : tensor<6x9xf32>
  %1 = mesh.shard %0 to <@line, [[0]]> annotate_for_users : tensor<6x9xf32>
  return %1 : tensor<6x9xf32>
}

// CHECK-LABEL: func.func @unsplit
func.func @unsplit(%t: tensor<6x9xf32>) -> tensor<6x9xf32> {
  // CHECK: mesh.all_gather %{{.*}} on @line mesh_axes = [0] gather_axis = 1 : tensor<6x3xf32> -> tensor<6x9xf32>
  %0 = mesh.shard %t to <@line, [[], [0]]> : tensor<6x9xf32>
  %1 = mesh.shard %0 to <@line, [[]]> annotate_for_users : tensor<6x9xf32>
  return %1 : tensor<6x9xf32>
}

// An axis moves from one dimension to another.
// CHECK-LABEL: func.func @move
func.func @move(%t: tensor<6x9xf32>) -> tensor<6x9xf32> {
  // CHECK: mesh.all_to_all %{{.*}} on @line mesh_axes = [0] split_axis = 1 concat_axis = 0 : tensor<2x9xf32> -> tensor<6x3xf32>
  %0 = mesh.shard %t to <@line, [[0]]> : tensor<6x9xf32>
  %1 = mesh.shard %0 to <@line, [[], [0]]> annotate_for_users : tensor<6x9xf32>
  return %1 : tensor<6x9xf32>
}

// Partial results are reduced first, except along axes that stay partial.
// CHECK-LABEL: func.func @partial
func.func @partial(%t: tensor<6x9xf32>) -> tensor<6x9xf32> {
  // CHECK-NEXT: mesh.all_reduce %arg0 on @g mesh_axes = [0] reduction = <max> : tensor<6x9xf32> -> tensor<6x9xf32>
  // CHECK-NEXT: return
  %0 = mesh.shard %t to <@g, [[]], partial = max[1, 0]> : tensor<6x9xf32>
  %1 = mesh.shard %0 to <@g, [[]], partial = max[1]> annotate_for_users : tensor<6x9xf32>
  return %1 : tensor<6x9xf32>
}

// Two steps, where one is not enough.
// CHECK-LABEL: func.func @two_splits
func.func @two_splits(%t: tensor<4x9xf32>) -> tensor<4x9xf32> {
  // CHECK-NEXT: %[[A:.*]] = mesh.all_slice %arg0 on @g mesh_axes = [0] slice_axis = 0 : tensor<4x9xf32> -> tensor<2x9xf32>
  // CHECK-NEXT: mesh.all_slice %[[A]] on @g mesh_axes = [1] slice_axis = 1 : tensor<2x9xf32> -> tensor<2x3xf32>
  %0 = mesh.shard %t to <@g, [[]]> : tensor<4x9xf32>
  %1 = mesh.shard %0 to <@g, [[0], [1]]> annotate_for_users : tensor<4x9xf32>
  return %1 : tensor<4x9xf32>
}

// Gathers the axes that the target does not have, then slices along those that are missing.
// CHECK-LABEL: func.func @exchange
func.func @exchange(%t: tensor<6x6xf32>) -> tensor<6x6xf32> {
  // CHECK: %[[A:.*]] = mesh.all_gather %{{.*}} on @g mesh_axes = [0] gather_axis = 0 : tensor<3x2xf32> -> tensor<6x2xf32>
  // CHECK-NEXT: %[[B:.*]] = mesh.all_gather %[[A]] on @g mesh_axes = [1] gather_axis = 1 : tensor<6x2xf32> -> tensor<6x6xf32>
  // CHECK-NEXT: %[[C:.*]] = mesh.all_slice %[[B]] on @g mesh_axes = [1] slice_axis = 0 : tensor<6x6xf32> -> tensor<2x6xf32>
  // CHECK-NEXT: mesh.all_slice %[[C]] on @g mesh_axes = [0] slice_axis = 1 : tensor<2x6xf32> -> tensor<2x3xf32>
  %0 = mesh.shard %t to <@g, [[0], [1]]> : tensor<6x6xf32>
  %1 = mesh.shard %0 to <@g, [[1], [0]]> annotate_for_users : tensor<6x6xf32>
  return %1 : tensor<6x6xf32>
}

// A second annotation for the producer has no effect.
// CHECK-LABEL: func.func @producers
func.func @producers(%t: tensor<6x9xf32>) -> tensor<6x9xf32> {
  // CHECK-COUNT-2: mesh.shard
  %0 = mesh.shard %t to <@line, [[0]]> : tensor<6x9xf32>
  %1 = mesh.shard %0 to <@line, [[]]> : tensor<6x9xf32>
  return %1 : tensor<6x9xf32>
}
