// RUN: sdy-opt %s -mesh-version=21 -canonicalize | filecheck %s

mesh.mesh @line(shape = 4)

// Constant sizes become static; zero halo sizes and equal shards are removed.
// CHECK-LABEL: func.func @sharding
func.func @sharding(%h: i64) -> (!mesh.sharding, !mesh.sharding, !mesh.sharding) {
  %c1 = arith.constant 1 : i64
  %c0 = arith.constant 0 : i64
  // CHECK-NEXT: mesh.sharding @line split_axes = {{\[\[}}0]] halo_sizes = [1, %arg0] : !mesh.sharding
  %0 = mesh.sharding @line split_axes = [[0]] halo_sizes = [%c1, %h] : !mesh.sharding
  // CHECK-NEXT: mesh.sharding @line split_axes = {{\[\[}}0]] : !mesh.sharding
  %1 = mesh.sharding @line split_axes = [[0]] halo_sizes = [0, %c0] : !mesh.sharding
  // CHECK-NEXT: mesh.sharding @line split_axes = {{\[\[}}0]] : !mesh.sharding
  %2 = mesh.sharding @line split_axes = [[0]] sharded_dims_offsets = [0, 3, 6, 9, 12] : !mesh.sharding
  return %0, %1, %2 : !mesh.sharding, !mesh.sharding, !mesh.sharding
}

// Equal annotations of a value are merged.
// CHECK-LABEL: func.func @same_twice
func.func @same_twice(%t: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %s = mesh.sharding @line split_axes = [[0]] : !mesh.sharding
  // CHECK: %[[A:.*]] = mesh.shard %arg0
  %0 = mesh.shard %t to %s : tensor<4xf32>
  %1 = mesh.shard %t to %s annotate_for_users : tensor<4xf32>
  // CHECK-NEXT: return %[[A]], %[[A]]
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// Different annotations of a value are chained.
// CHECK-LABEL: func.func @chain
func.func @chain(%t: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %s = mesh.sharding @line split_axes = [[0]] : !mesh.sharding
  %r = mesh.sharding @line split_axes = [[]] : !mesh.sharding
  // CHECK: %[[A:.*]] = mesh.shard %arg0
  %0 = mesh.shard %t to %s : tensor<4xf32>
  // CHECK-NEXT: mesh.shard %[[A]]
  %1 = mesh.shard %t to %r : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// The offset that stands for an operand may be written where there is none; it is kept.
// CHECK-LABEL: func.func @offset_without_operand
// CHECK-NEXT: mesh.sharding @line split_axes = {{\[\[}}0]] sharded_dims_offsets = [0, -9223372036854775808, 6, 9, 12]
func.func @offset_without_operand() -> !mesh.sharding {
  %0 = mesh.sharding @line split_axes = [[0]] sharded_dims_offsets = [0, -9223372036854775808, 6, 9, 12] : !mesh.sharding
  return %0 : !mesh.sharding
}
