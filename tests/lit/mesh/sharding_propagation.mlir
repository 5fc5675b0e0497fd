// RUN: sdy-opt %s -sharding-propagation | filecheck %s
// RUN: sdy-opt %s -sharding-propagation='traversal=forward' | filecheck %s --check-prefix=FORWARD

mesh.mesh @g(shape = 2x3)

// From an operand to the result.
// CHECK-LABEL: func.func @forward
func.func @forward(%a: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // CHECK-NEXT: %[[S:.*]] = mesh.shard %arg0 to <@g, {{\[\[}}0]]> : tensor<6x4xf32>
  // CHECK-NEXT: %[[T:.*]] = mesh.shard %[[S]] to <@g, {{\[\[}}0]]> annotate_for_users
  // CHECK-NEXT: %[[A:.*]] = tosa.abs %[[T]]
  // CHECK-NEXT: %[[R:.*]] = mesh.shard %[[A]] to <@g, {{\[\[}}0]]> : tensor<6x4xf32>
  // CHECK-NEXT: return %[[R]]
  %s = mesh.shard %a to <@g, [[0]]> : tensor<6x4xf32>
  %0 = tosa.abs %s : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// From the result to the operands, unless the traversal is forward only.
// CHECK-LABEL: func.func @backward
// FORWARD-LABEL: func.func @backward
func.func @backward(%a: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // CHECK-NEXT: mesh.shard %arg0 to <@g, {{\[\[}}], [1]]> annotate_for_users
  // CHECK-NEXT: tosa.abs
  // CHECK-NEXT: mesh.shard
  // CHECK-NEXT: mesh.shard
  // CHECK-NEXT: tosa.exp
  // FORWARD-NEXT: tosa.abs %arg0
  %0 = tosa.abs %a : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %1 = tosa.exp %0 : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %s = mesh.shard %1 to <@g, [[], [1]]> : tensor<6x4xf32>
  return %s : tensor<6x4xf32>
}

// Compatible shardings of two operands are combined.
// CHECK-LABEL: func.func @merge
func.func @merge(%a: tensor<6x4xf32>, %b: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // CHECK: %[[R:.*]] = tosa.add
  // CHECK-NEXT: mesh.shard %[[R]] to <@g, {{\[\[}}0], [1]]> : tensor<6x4xf32>
  %s = mesh.shard %a to <@g, [[0]]> : tensor<6x4xf32>
  %t = mesh.shard %b to <@g, [[0], [1]]> : tensor<6x4xf32>
  %0 = tosa.add %s, %t : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// Conflicting mandatory shardings change nothing.
// CHECK-LABEL: func.func @conflict
func.func @conflict(%a: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // CHECK-COUNT-1: mesh.shard
  // CHECK-NEXT: tosa.abs
  // CHECK-NEXT: mesh.shard
  // CHECK-NEXT: return
  %s = mesh.shard %a to <@g, [[0]]> annotate_for_users : tensor<6x4xf32>
  %0 = tosa.abs %s : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %t = mesh.shard %0 to <@g, [[1]]> : tensor<6x4xf32>
  return %t : tensor<6x4xf32>
}

// A reduction along a sharded dimension gives a partial result.
// CHECK-LABEL: func.func @matmul
func.func @matmul(%x: tensor<1x4x6xf32>, %y: tensor<1x6x8xf32>) -> tensor<1x4x8xf32> {
  // CHECK: mesh.shard %arg1 to <@g, {{\[\[}}], [1]]> annotate_for_users
  // CHECK-NEXT: %[[R:.*]] = tosa.matmul
  // CHECK-NEXT: mesh.shard %[[R]] to <@g, {{\[\[}}], [0]], partial = sum[1]>
  %s = mesh.shard %x to <@g, [[], [0], [1]]> annotate_for_users : tensor<1x4x6xf32>
  %0 = tosa.matmul %s, %y : (tensor<1x4x6xf32>, tensor<1x6x8xf32>) -> tensor<1x4x8xf32>
  return %0 : tensor<1x4x8xf32>
}

// A user with two uses of the result is annotated once.
// CHECK-LABEL: func.func @used_twice
func.func @used_twice(%a: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // CHECK: %[[A:.*]] = tosa.abs
  // CHECK-NEXT: %[[N:.*]] = mesh.shard %[[A]] to <@g, {{\[\[}}0]]> : tensor<6x4xf32>
  // CHECK-NEXT: %[[M:.*]] = mesh.shard %[[N]] to <@g, {{\[\[}}0]]> annotate_for_users
  // CHECK-NEXT: tosa.add %[[M]], %[[M]]
  %s = mesh.shard %a to <@g, [[0]]> annotate_for_users : tensor<6x4xf32>
  %0 = tosa.abs %s : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %1 = tosa.add %0, %0 : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  return %1 : tensor<6x4xf32>
}

// A replicated sharding is propagated, too.
// CHECK-LABEL: func.func @replicated
func.func @replicated(%a: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // CHECK: %[[A:.*]] = tosa.abs
  // CHECK-NEXT: mesh.shard %[[A]] to <@g, []> : tensor<6x4xf32>
  %s = mesh.shard %a to <@g, [[]]> : tensor<6x4xf32>
  %0 = tosa.abs %s : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

