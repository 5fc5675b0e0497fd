// RUN: sdy-opt %s | filecheck %s
// RUN: sdy-opt %s | sdy-opt - | filecheck %s

mesh.mesh @g(shape = 2x3)

// Annotations of producers and of users. Empty lists are written as they are given.
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

// Propagation makes lists without any dimension, which can be read back.
// CHECK-LABEL: func.func @no_lists
func.func @no_lists(%t: tensor<6x4xf32>) {
  // CHECK-NEXT: mesh.shard %arg0 to <@g, []> : tensor<6x4xf32>
  %0 = mesh.shard %t to <@g, []> : tensor<6x4xf32>
  return
}

// Nothing is looked up: what cannot be done is found out by whoever tries to.
// CHECK-LABEL: func.func @not_looked_up
func.func @not_looked_up(%t: tensor<6x4xf32>) {
  // CHECK-NEXT: mesh.shard %arg0 to <@nowhere, {{\[\[}}7], [], [], [8]]> : tensor<6x4xf32>
  %0 = mesh.shard %t to <@nowhere, [[7], [], [], [8]]> : tensor<6x4xf32>
  return
}

// Shardings and reductions are attributes like others.
// CHECK-LABEL: func.func @attributes
// CHECK-SAME: a = #mesh.shard<@g, {{\[\[}}0], [], [1]], partial = product[2]>
// CHECK-SAME: b = #mesh.partial<bitwise_or>
func.func @attributes() attributes {a = #mesh.shard<@g, [[0], [], [1]], partial = product[2]>, b = #mesh.partial<bitwise_or>} {
  return
}

// The later form has the sharding as a value; it is understood here, too.
// CHECK-LABEL: func.func @by_value
func.func @by_value(%t: tensor<6x4xf32>) {
  // CHECK-NEXT: %[[S:.*]] = mesh.sharding @g split_axes = {{\[\[}}0]] : !mesh.sharding
  %s = mesh.sharding @g split_axes = [[0]] : !mesh.sharding
  // CHECK-NEXT: mesh.shard %arg0 to %[[S]] : tensor<6x4xf32>
  %0 = mesh.shard %t to %s : tensor<6x4xf32>
  return
}
