// RUN: sdy-opt %s -mesh-version=22 -split-input-file -pass-pipeline="builtin.module(func.func(sharding-propagation))" | filecheck %s --check-prefixes=PROPAGATED
// RUN: sdy-opt %s -mesh-version=22 -split-input-file -pass-pipeline="builtin.module(func.func(sharding-propagation,shard-partition))" | filecheck %s

// The passes of the mesh dialect have other names in LLVM 22: mesh-spmdization is shard-partition.

shard.grid @g(shape = 3)

// CHECK-LABEL: func.func @elementwise(%arg0: tensor<2x9xf32>) -> tensor<6x9xf32>
// PROPAGATED-LABEL: func.func @elementwise
func.func @elementwise(%a: tensor<6x9xf32>) -> tensor<6x9xf32> {
  // PROPAGATED-NEXT: %[[S:.*]] = shard.sharding @g split_axes = {{\[\[}}0]] : !shard.sharding
  // PROPAGATED-NEXT: %[[A:.*]] = shard.shard %arg0 to %[[S]] : tensor<6x9xf32>
  // PROPAGATED-NEXT: %[[B:.*]] = shard.shard %[[A]] to %[[S]] annotate_for_users : tensor<6x9xf32>
  %s = shard.sharding @g split_axes = [[0]] : !shard.sharding
  %0 = shard.shard %a to %s : tensor<6x9xf32>
  %1 = shard.shard %0 to %s annotate_for_users : tensor<6x9xf32>
  // PROPAGATED-NEXT: %[[E:.*]] = tosa.exp %[[B]]
  // PROPAGATED-NEXT: %[[T:.*]] = shard.sharding @g split_axes = {{\[\[}}0]] : !shard.sharding
  // PROPAGATED-NEXT: shard.shard %[[E]] to %[[T]] : tensor<6x9xf32>
  // CHECK-NEXT: %[[E:.*]] = tosa.exp %arg0 : (tensor<2x9xf32>) -> tensor<2x9xf32>
  %2 = tosa.exp %1 : (tensor<6x9xf32>) -> tensor<6x9xf32>
  %r = shard.sharding @g split_axes = [[]] : !shard.sharding
  // CHECK-NEXT: %[[G:.*]] = shard.all_gather %[[E]] on @g grid_axes = [0] gather_axis = 0 : tensor<2x9xf32> -> tensor<6x9xf32>
  %3 = shard.shard %2 to %r annotate_for_users : tensor<6x9xf32>
  return %3 : tensor<6x9xf32>
}

// -----

// The result of a product whose contracting dimension is sharded is reduced at once: no sharding is partial.
shard.grid @g(shape = 4)

// PROPAGATED-LABEL: func.func @product
// CHECK-LABEL: func.func @product(%arg0: tensor<8x2xf32>, %arg1: tensor<2x8xf32>, %arg2: tensor<8x8xf32>)
func.func @product(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %s0 = shard.sharding @g split_axes = [[], [0]] : !shard.sharding
  %s1 = shard.sharding @g split_axes = [[0]] : !shard.sharding
  %0 = shard.shard %a to %s0 : tensor<8x8xf32>
  %1 = shard.shard %0 to %s0 annotate_for_users : tensor<8x8xf32>
  %2 = shard.shard %b to %s1 : tensor<8x8xf32>
  %3 = shard.shard %2 to %s1 annotate_for_users : tensor<8x8xf32>
  // PROPAGATED: %[[P:.*]] = linalg.matmul
  // PROPAGATED-NEXT: %[[S:.*]] = shard.sharding @g split_axes = {{\[\[}}]] : !shard.sharding
  // PROPAGATED-NEXT: shard.shard %[[P]] to %[[S]] : tensor<8x8xf32>
  // CHECK: %[[P:.*]] = linalg.matmul
  // CHECK-NEXT: shard.all_reduce %[[P]] on @g grid_axes = [0] : tensor<8x8xf32> -> tensor<8x8xf32>
  %4 = linalg.matmul ins(%1, %3 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %4 : tensor<8x8xf32>
}

// -----

// Tensors without elements yet, and fills, are sharded as their users need.
shard.grid @g(shape = 4)

// PROPAGATED-LABEL: func.func @fill
// CHECK-LABEL: func.func @fill(%arg0: tensor<2x4xf32>, %arg1: tensor<4x8xf32>) -> tensor<2x8xf32>
func.func @fill(%a: tensor<8x4xf32>, %b: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %s = shard.sharding @g split_axes = [[0]] : !shard.sharding
  %f = arith.constant 0.0 : f32
  // CHECK: %[[E:.*]] = tensor.empty() : tensor<2x8xf32>
  %c = tensor.empty() : tensor<8x8xf32>
  // CHECK-NEXT: %[[D:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%[[E]] : tensor<2x8xf32>) -> tensor<2x8xf32>
  %d = linalg.fill ins(%f : f32) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  %as = shard.shard %a to %s annotate_for_users : tensor<8x4xf32>
  // CHECK-NEXT: linalg.matmul ins(%arg0, %arg1 : tensor<2x4xf32>, tensor<4x8xf32>) outs(%[[D]] : tensor<2x8xf32>)
  %m = linalg.matmul ins(%as, %b : tensor<8x4xf32>, tensor<4x8xf32>) outs(%d : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %m : tensor<8x8xf32>
}

// -----

// The loops of linalg.generic are sharded as its indexing maps say. The output of a reduction is kept on the first
// device, and is the neutral element on the others.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
shard.grid @g(shape = 2)

// PROPAGATED-LABEL: func.func @maximum
// CHECK-LABEL: func.func @maximum(%arg0: tensor<4x4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32>
func.func @maximum(%a: tensor<4x8xf32>, %c: tensor<4xf32>) -> tensor<4xf32> {
  %s = shard.sharding @g split_axes = [[], [0]] : !shard.sharding
  %as = shard.shard %a to %s annotate_for_users : tensor<4x8xf32>
  // CHECK: scf.if
  // CHECK-NEXT: scf.yield %arg1
  // CHECK: arith.constant 0xFF800000 : f32
  // CHECK: %[[M:.*]] = linalg.generic
  // CHECK: shard.all_reduce %[[M]] on @g grid_axes = [0] reduction =  max : tensor<4xf32> -> tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%as : tensor<4x8xf32>) outs(%c : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %m = arith.maximumf %x, %y : f32
    linalg.yield %m : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
