// RUN: sdy-opt %s | filecheck %s
// RUN: sdy-opt %s | sdy-opt - | filecheck %s

mesh.mesh @g(shape = 2x3)

// Annotations for producers and for users. Empty lists are kept.
// CHECK-LABEL: func.func @shard
func.func @shard(%t: tensor<6x4xf32>) {
  // CHECK-NEXT: mesh.shard %arg0 to <@g, {{\[\[}}]]> : tensor<6x4xf32>
  %0 = mesh.shard %t to <@g, [[]]> : tensor<6x4xf32>
  // CHECK-NEXT: mesh.shard %arg0 to <@g, {{\[\[}}0], []]> : tensor<6x4xf32>
  %1 = mesh.shard %t to <@g, [[0], []]> : tensor<6x4xf32>
  // CHECK-NEXT: mesh.shard %{{.*}} to <@g, {{\[\[}}], [1, 0]]> annotate_for_users {why = "demo"} : tensor<6x4xf32>
  %2 = mesh.shard %1 to <@g, [[], [1, 0]]> annotate_for_users {why = "demo"} : tensor<6x4xf32>
  // CHECK-NEXT: mesh.shard %arg0 to <@g, {{\[\[}}0]], partial = max[1]> : tensor<6x4xf32>
  %3 = mesh.shard %t to <@g, [[0]], partial = max [1]> : tensor<6x4xf32>
  return
}

// Propagation creates empty lists, which must parse.
// CHECK-LABEL: func.func @no_lists
func.func @no_lists(%t: tensor<6x4xf32>) {
  // CHECK-NEXT: mesh.shard %arg0 to <@g, []> : tensor<6x4xf32>
  %0 = mesh.shard %t to <@g, []> : tensor<6x4xf32>
  return
}

// Meshes and axes are not verified here, but by the passes that use them.
// CHECK-LABEL: func.func @not_looked_up
func.func @not_looked_up(%t: tensor<6x4xf32>) {
  // CHECK-NEXT: mesh.shard %arg0 to <@nowhere, {{\[\[}}7], [], [], [8]]> : tensor<6x4xf32>
  %0 = mesh.shard %t to <@nowhere, [[7], [], [], [8]]> : tensor<6x4xf32>
  return
}

// Shardings and reductions as attributes.
// CHECK-LABEL: func.func @attributes
// CHECK-SAME: a = #mesh.shard<@g, {{\[\[}}0], [], [1]], partial = product[2]>
// CHECK-SAME: b = #mesh.partial<bitwise_or>
func.func @attributes() attributes {a = #mesh.shard<@g, [[0], [], [1]], partial = product[2]>, b = #mesh.partial<bitwise_or>} {
  return
}
