// RUN: sdy-opt %s -sharding-propagation -mesh-spmdization | filecheck %s

mesh.mesh @line(shape = 2)

// If the contracting dimension is sharded, the first device of each group starts from the initial value, the
// others from zero.
// CHECK-LABEL: func.func @contracted(%arg0: tensor<4x3xf32>, %arg1: tensor<3x8xf32>, %arg2: tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @contracted(%a: tensor<4x6xf32>, %b: tensor<6x8xf32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %[[PLACE:.*]] = mesh.process_multi_index on @line axes = [0] : index
  // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[PLACE]], %{{.*}} : index
  // CHECK-NEXT: %[[INIT:.*]] = scf.if %[[FIRST]] -> (tensor<4x8xf32>) {
  // CHECK-NEXT: scf.yield %arg2
  // CHECK: linalg.fill
  // CHECK: %[[SUM:.*]] = linalg.matmul ins(%arg0, %arg1 : tensor<4x3xf32>, tensor<3x8xf32>) outs(%[[INIT]] : tensor<4x8xf32>)
  // CHECK-NEXT: mesh.all_reduce %[[SUM]] on @line mesh_axes = [0]
  %s = mesh.shard %a to <@line, [[], [0]]> annotate_for_users : tensor<4x6xf32>
  %0 = linalg.matmul ins(%s, %b : tensor<4x6xf32>, tensor<6x8xf32>) outs(%c : tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = mesh.shard %0 to <@line, [[]]> annotate_for_users : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
