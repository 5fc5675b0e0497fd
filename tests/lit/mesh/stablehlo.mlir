// RUN: sdy-opt %s -sharding-propagation -sharding-propagation | filecheck %s --check-prefix=ANNOTATED
// RUN: sdy-opt %s -sharding-propagation -sharding-propagation -mesh-spmdization -canonicalize | filecheck %s

// StableHLO operations are partitioned by their sharding rules.
mesh.mesh @g(shape = 2x3)

// Sharded rows and columns: no communication. The broadcast is sharded, too.
// ANNOTATED-LABEL: func.func @layer
// ANNOTATED: stablehlo.broadcast_in_dim
// ANNOTATED-NEXT: mesh.shard %{{.*}} to <@g, {{\[\[}}0], [1]]> : tensor<12x18xf32>
// CHECK-LABEL: func.func @layer(%arg0: tensor<6x6xf32>, %arg1: tensor<6x6xf32>, %arg2: tensor<6xf32>) -> tensor<6x6xf32>
func.func @layer(%x: tensor<12x6xf32>, %w: tensor<6x18xf32>, %b: tensor<18xf32>) -> tensor<12x18xf32> {
  // CHECK-NEXT: stablehlo.dot_general
  // CHECK-NEXT: stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<6xf32>) -> tensor<6x6xf32>
  // CHECK-NEXT: stablehlo.add
  // CHECK-NEXT: stablehlo.tanh
  // CHECK-NEXT: return
  %s = mesh.shard %x to <@g, [[0]]> : tensor<12x6xf32>
  %v = mesh.shard %w to <@g, [[], [1]]> : tensor<6x18xf32>
  %0 = stablehlo.dot_general %s, %v, contracting_dims = [1] x [0] : (tensor<12x6xf32>, tensor<6x18xf32>) -> tensor<12x18xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<18xf32>) -> tensor<12x18xf32>
  %2 = stablehlo.add %0, %1 : tensor<12x18xf32>
  %3 = stablehlo.tanh %2 : tensor<12x18xf32>
  return %3 : tensor<12x18xf32>
}

// A sharded contracting dimension gives partial results.
// ANNOTATED-LABEL: func.func @contracted
// ANNOTATED: stablehlo.dot_general
// ANNOTATED-NEXT: mesh.shard %{{.*}} to <@g, {{\[\[}}0]], partial = sum[1]> : tensor<12x18xf32>
// CHECK-LABEL: func.func @contracted
func.func @contracted(%x: tensor<12x6xf32>, %w: tensor<6x18xf32>) -> tensor<12x18xf32> {
  // CHECK-NEXT: %[[P:.*]] = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<6x2xf32>, tensor<2x18xf32>) -> tensor<6x18xf32>
  // CHECK-NEXT: mesh.all_reduce %[[P]] on @g mesh_axes = [1] : tensor<6x18xf32> -> tensor<6x18xf32>
  %s = mesh.shard %x to <@g, [[0], [1]]> annotate_for_users : tensor<12x6xf32>
  %0 = stablehlo.dot_general %s, %w, contracting_dims = [1] x [0] : (tensor<12x6xf32>, tensor<6x18xf32>) -> tensor<12x18xf32>
  %1 = mesh.shard %0 to <@g, [[0]]> annotate_for_users : tensor<12x18xf32>
  return %1 : tensor<12x18xf32>
}

// The same for reductions that start from zero.
// CHECK-LABEL: func.func @sum
func.func @sum(%x: tensor<12x6xf32>) -> tensor<6xf32> {
  // CHECK: %[[P:.*]] = stablehlo.reduce(%arg0 init: %{{.*}}) applies stablehlo.add across dimensions = [0] : (tensor<6x6xf32>, tensor<f32>) -> tensor<6xf32>
  // CHECK-NEXT: mesh.all_reduce %[[P]] on @g mesh_axes = [0] : tensor<6xf32> -> tensor<6xf32>
  %s = mesh.shard %x to <@g, [[0]]> annotate_for_users : tensor<12x6xf32>
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%s init: %c) applies stablehlo.add across dimensions = [0] : (tensor<12x6xf32>, tensor<f32>) -> tensor<6xf32>
  %r = mesh.shard %0 to <@g, [[]]> annotate_for_users : tensor<6xf32>
  return %r : tensor<6xf32>
}

// A reduction that starts from 1 would add this 1 once per device, so the reduced dimension is replicated.
// CHECK-LABEL: func.func @sum_from_one
func.func @sum_from_one(%x: tensor<12x6xf32>) -> tensor<6xf32> {
  // CHECK: mesh.all_gather %arg0 on @g mesh_axes = [0] gather_axis = 0
  // CHECK: stablehlo.reduce(%{{.*}} init: %{{.*}}) applies stablehlo.add across dimensions = [0] : (tensor<12x6xf32>, tensor<f32>) -> tensor<6xf32>
  // CHECK-NEXT: return
  %s = mesh.shard %x to <@g, [[0]]> : tensor<12x6xf32>
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.reduce(%s init: %c) applies stablehlo.add across dimensions = [0] : (tensor<12x6xf32>, tensor<f32>) -> tensor<6xf32>
  %r = mesh.shard %0 to <@g, []> annotate_for_users : tensor<6xf32>
  return %r : tensor<6xf32>
}

// The shards of a splat constant are constants.
// CHECK-LABEL: func.func @constant(%arg0: tensor<6x6xf32>) -> tensor<6x6xf32>
func.func @constant(%x: tensor<12x6xf32>) -> tensor<12x6xf32> {
  // CHECK-NEXT: stablehlo.constant dense<2.000000e+00> : tensor<6x6xf32>
  // CHECK-NEXT: stablehlo.multiply
  %s = mesh.shard %x to <@g, [[0]]> : tensor<12x6xf32>
  %c = stablehlo.constant dense<2.0> : tensor<12x6xf32>
  %0 = stablehlo.multiply %s, %c : tensor<12x6xf32>
  return %0 : tensor<12x6xf32>
}
