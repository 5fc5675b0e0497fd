// RUN: sdy-opt %s -mesh-version=21 -sharding-propagation | filecheck %s --check-prefix=ANNOTATED
// RUN: sdy-opt %s -mesh-version=21 -sharding-propagation -mesh-spmdization | filecheck %s

mesh.mesh @line(shape = 3)

// Annotations have sharding operands, arith is shardable, and all users share one annotation.
// ANNOTATED-LABEL: func.func @values
// ANNOTATED: %[[E:.*]] = tosa.exp
// ANNOTATED-NEXT: %[[S:.*]] = mesh.sharding @line split_axes = {{\[\[}}0]] : !mesh.sharding
// ANNOTATED-NEXT: mesh.shard %[[E]] to %[[S]] : tensor<6x9xf32>
// CHECK-LABEL: func.func @values(%arg0: tensor<2x9xf32>) -> tensor<2x9xf32>
func.func @values(%t: tensor<6x9xf32>) -> tensor<6x9xf32> {
  // CHECK-NEXT: %[[E:.*]] = tosa.exp %arg0
  // CHECK-NEXT: %[[A:.*]] = arith.addf %[[E]], %[[E]] : tensor<2x9xf32>
  // CHECK-NEXT: return %[[A]]
  %s = mesh.sharding @line split_axes = [[0]] : !mesh.sharding
  %0 = mesh.shard %t to %s : tensor<6x9xf32>
  %1 = tosa.exp %0 : (tensor<6x9xf32>) -> tensor<6x9xf32>
  %2 = arith.addf %1, %1 : tensor<6x9xf32>
  return %2 : tensor<6x9xf32>
}

// A function without annotations is unchanged.
// CHECK-LABEL: func.func @nothing(%arg0: tensor<6x9xf32>) -> tensor<6x9xf32>
func.func @nothing(%t: tensor<6x9xf32>) -> tensor<6x9xf32> {
  return %t : tensor<6x9xf32>
}

// A queried sharding is that of the annotation.
// CHECK-LABEL: func.func @get
func.func @get(%t: tensor<6x9xf32>) -> (tensor<6x9xf32>, !mesh.sharding) {
  // CHECK-NEXT: %[[S:.*]] = mesh.sharding @line split_axes = {{\[\[}}0]] : !mesh.sharding
  // CHECK-NEXT: return %arg0, %[[S]]
  %s = mesh.sharding @line split_axes = [[0]] : !mesh.sharding
  %0 = mesh.shard %t to %s : tensor<6x9xf32>
  %1 = mesh.get_sharding %0 : tensor<6x9xf32> -> !mesh.sharding
  return %0, %1 : tensor<6x9xf32>, !mesh.sharding
}

// Other halo sizes: the core is inserted into a tensor of the new shape, then the halos are updated.
// CHECK-LABEL: func.func @halos(%arg0: tensor<2x9xf32>) -> tensor<5x9xf32>
func.func @halos(%t: tensor<6x9xf32>) -> tensor<6x9xf32> {
  // CHECK-NEXT: %[[NEW:.*]] = tensor.empty() : tensor<5x9xf32>
  // CHECK-NEXT: %[[CORE:.*]] = tensor.extract_slice %arg0[0, 0] [2, 9] [1, 1] : tensor<2x9xf32> to tensor<2x9xf32>
  // CHECK-NEXT: %[[IN:.*]] = tensor.insert_slice %[[CORE]] into %[[NEW]][1, 0] [2, 9] [1, 1] : tensor<2x9xf32> into tensor<5x9xf32>
  // CHECK-NEXT: mesh.update_halo %[[IN]] on @line split_axes = {{\[\[}}0]] halo_sizes = [1, 2] : tensor<5x9xf32>
  %s = mesh.sharding @line split_axes = [[0]] : !mesh.sharding
  %h = mesh.sharding @line split_axes = [[0]] halo_sizes = [1, 2] : !mesh.sharding
  %0 = mesh.shard %t to %s : tensor<6x9xf32>
  %1 = mesh.shard %0 to %h annotate_for_users : tensor<6x9xf32>
  return %1 : tensor<6x9xf32>
}
