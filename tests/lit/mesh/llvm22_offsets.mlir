// RUN: sdy-opt %s --mesh-version=22 -split-input-file -verify-diagnostics \
// RUN:   -pass-pipeline='builtin.module(func.func(shard-partition))' | filecheck %s

// Shards of different sizes are of dynamic shape. The size of an empty one is that of the device's shard.

shard.grid @line(shape = 4)

// CHECK-LABEL: func.func @empty(
// CHECK-NEXT:    %[[SHARDING:.*]] = shard.sharding @line split_axes = {{\[\[}}], [0]] sharded_dims_offsets = [0, 1, 4, 7, 16]
// CHECK-NEXT:    %[[DEVICE:.*]] = shard.process_multi_index on @line : index
// CHECK-NEXT:    %[[SHAPE:.*]]:2 = shard.shard_shape dims = [%arg0, 16] sharding = %[[SHARDING]] device = [%[[DEVICE]]] : index, index
// CHECK-NEXT:    %[[EMPTY:.*]] = tensor.empty(%arg0, %[[SHAPE]]#1) : tensor<?x?xf32>
// CHECK-NEXT:    %[[EXP:.*]] = tosa.exp %[[EMPTY]] : (tensor<?x?xf32>) -> tensor<?x?xf32>
// CHECK-NEXT:    return %[[EXP]] : tensor<?x?xf32>
func.func @empty(%n: index) -> tensor<?x16xf32> {
  %s = shard.sharding @line split_axes = [[], [0]] sharded_dims_offsets = [0, 1, 4, 7, 16] : !shard.sharding
  %0 = tensor.empty(%n) : tensor<?x16xf32>
  %1 = shard.shard %0 to %s : tensor<?x16xf32>
  %2 = shard.shard %1 to %s annotate_for_users : tensor<?x16xf32>
  %3 = tosa.exp %2 : (tensor<?x16xf32>) -> tensor<?x16xf32>
  %4 = shard.shard %3 to %s : tensor<?x16xf32>
  return %4 : tensor<?x16xf32>
}

// A dimension of dynamic size, whose shards are equal. mlir-opt 22 makes a tensor of the whole size.

// CHECK-LABEL: func.func @dynamic(
// CHECK:         %[[SHAPE:.*]]:2 = shard.shard_shape dims = [8, %arg0]
// CHECK-NEXT:    tensor.empty(%[[SHAPE]]#1) : tensor<8x?xf32>
func.func @dynamic(%n: index) -> tensor<8x?xf32> {
  %s = shard.sharding @line split_axes = [[], [0]] : !shard.sharding
  %0 = tensor.empty(%n) : tensor<8x?xf32>
  %1 = shard.shard %0 to %s : tensor<8x?xf32>
  return %1 : tensor<8x?xf32>
}

// CHECK-LABEL: func.func @equal()
// CHECK-NEXT:    tensor.empty() : tensor<2x16xf32>
func.func @equal() -> tensor<8x16xf32> {
  %s = shard.sharding @line split_axes = [[0]] sharded_dims_offsets = [0, 2, 4, 6, 8] : !shard.sharding
  %0 = tensor.empty() : tensor<8x16xf32>
  %1 = shard.shard %0 to %s : tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}

// -----

shard.grid @line(shape = 4)

func.func @reshard(%a: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %s = shard.sharding @line split_axes = [[0]] sharded_dims_offsets = [0, 1, 4, 7, 8] : !shard.sharding
  %t = shard.sharding @line split_axes = [[]] : !shard.sharding
  %0 = shard.shard %a to %s : tensor<8x16xf32>
  // expected-error @+1 {{cannot reshard a tensor with sharded dims offsets}}
  %1 = shard.shard %0 to %t annotate_for_users : tensor<8x16xf32>
  %2 = tosa.exp %1 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %3 = shard.shard %2 to %t : tensor<8x16xf32>
  return %3 : tensor<8x16xf32>
}

// -----

shard.grid @line(shape = 4)

func.func @end() -> tensor<8x16xf32> {
  %s = shard.sharding @line split_axes = [[0]] sharded_dims_offsets = [0, 2, 4, 6, 7] : !shard.sharding
  %0 = tensor.empty() : tensor<8x16xf32>
  // expected-error @+1 {{the offsets of dimension 0 of size 8 end at 7}}
  %1 = shard.shard %0 to %s : tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}

// -----

shard.grid @grid(shape = 2x3)

func.func @several_axes() -> tensor<8x16xf32> {
  // expected-error @+1 {{sharded dims offsets along several axes of a dimension are not supported here}}
  %s = shard.sharding @grid split_axes = [[0, 1]] sharded_dims_offsets = [0, 1, 2, 3, 4, 8] : !shard.sharding
  %0 = tensor.empty() : tensor<8x16xf32>
  %1 = shard.shard %0 to %s : tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}

// -----

shard.grid @line(shape = 4)

func.func @constant() -> tensor<8x16xf32> {
  %s = shard.sharding @line split_axes = [[0]] sharded_dims_offsets = [0, 1, 4, 7, 8] : !shard.sharding
  // expected-error @+1 {{'arith.constant' op sharded dims offsets are not supported here}}
  %0 = arith.constant dense<0.0> : tensor<8x16xf32>
  %1 = shard.shard %0 to %s : tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}
