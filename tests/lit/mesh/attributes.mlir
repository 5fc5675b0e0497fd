// RUN: sdy-opt %s | filecheck %s
// RUN: sdy-opt %s -mlir-print-op-generic | filecheck %s --check-prefix=GENERIC

// The forms of docs/mesh/attributes.md, in clauses and in full.

// CHECK: mesh.mesh @grid(shape = 2x2x?x2)
// GENERIC: "mesh.mesh"() <{shape = array<i64: 2, 2, -9223372036854775808, 2>, sym_name = "grid"}>
mesh.mesh @grid(shape = 2x2x?x2)

// CHECK: func.func private @in_full() attributes {axes = array<i16: 0, 2>, kind = #mesh.partial<max>,
// CHECK-SAME: other = #mesh.shard<@grid, {{\[\[}}0], []]>,
// CHECK-SAME: sharding = #mesh.shard<@grid, {{\[\[}}0], [], [2, 1]], partial = max[3]>}
func.func private @in_full() attributes {axes = array<i16: 0, 2>, kind = #mesh.partial<max>,
    other = #mesh.shard<@grid, [[0], []]>, sharding = #mesh.shard<@grid, [[0], [], [2, 1]], partial = max[3]>}

func.func @in_clauses(%t: tensor<8x8xf32>, %n: index) {
  // CHECK: mesh.all_reduce %arg0 on @grid mesh_axes = [0, 2] reduction = <max>
  // GENERIC: mesh_axes = array<i16: 0, 2>, reduction = #mesh.partial<max>
  %0 = mesh.all_reduce %t on @grid mesh_axes = [0, 2] reduction = <max> : tensor<8x8xf32> -> tensor<8x8xf32>
  // CHECK: mesh.all_gather %arg0 on @grid mesh_axes = [0] gather_axis = 1
  // GENERIC: gather_axis = 1 : index
  %1 = mesh.all_gather %t on @grid mesh_axes = [0] gather_axis = 1 : tensor<8x8xf32> -> tensor<8x16xf32>
  // CHECK: mesh.broadcast %arg0 on @grid mesh_axes = [0, 1] root = [1, %arg1]
  // GENERIC: root = array<i64: 1, -9223372036854775808>
  %2 = mesh.broadcast %t on @grid mesh_axes = [0, 1] root = [1, %n] : (tensor<8x8xf32>, index) -> tensor<8x8xf32>
  // CHECK: mesh.shift %arg0 on @grid mesh_axes = [0] shift_axis = 0 offset = -2 rotate
  // GENERIC: offset = -2 : i64, rotate, shift_axis = 0 : index
  %3 = mesh.shift %t on @grid mesh_axes = [0] shift_axis = 0 offset = -2 rotate : tensor<8x8xf32> -> tensor<8x8xf32>
  // CHECK: mesh.shard %arg0 to <@grid, {{\[\[}}0], [1]]> annotate_for_users
  // GENERIC: annotate_for_users, shard = #mesh.shard<@grid, {{\[\[}}0], [1]]>
  %4 = mesh.shard %t to <@grid, [[0], [1]]> annotate_for_users : tensor<8x8xf32>
  return
}
