// RUN: sdy-opt %s -mesh-version=22 | filecheck %s
// RUN: sdy-opt %s -mesh-version=22 | sdy-opt - -mesh-version=22 | filecheck %s
// RUN: sdy-opt %s -mesh-version=22 -mlir-print-op-generic | filecheck %s --check-prefix=GENERIC

// LLVM 22 renamed the dialect: a mesh is a grid.
// CHECK: shard.grid @g(shape = 2x3)
// GENERIC: "shard.grid"() <{shape = array<i64: 2, 3>, sym_name = "g"}> : () -> ()
shard.grid @g(shape = 2x3)
shard.grid @line(shape = 4)

// Attributes and clauses are renamed, too.
// CHECK-LABEL: func.func @collectives
func.func @collectives(%t: tensor<6x4xf32>, %i: index) {
  // CHECK-NEXT: shard.all_gather %arg0 on @g grid_axes = [0] gather_axis = 0 : tensor<6x4xf32> -> tensor<12x4xf32>
  // GENERIC: "shard.all_gather"(%arg{{.*}}) <{gather_axis = 0 : index, grid = @g, grid_axes = array<i16: 0>}>
  %0 = shard.all_gather %t on @g grid_axes = [0] gather_axis = 0 : tensor<6x4xf32> -> tensor<12x4xf32>
  // CHECK-NEXT: shard.all_reduce %arg0 on @g grid_axes = [1] reduction =  max : tensor<6x4xf32> -> tensor<6x4xf32>
  // GENERIC: "shard.all_reduce"(%arg{{.*}}) <{grid = @g, grid_axes = array<i16: 1>, reduction = #shard<partial max>}>
  %1 = shard.all_reduce %t on @g grid_axes = [1] reduction = max : tensor<6x4xf32> -> tensor<6x4xf32>
  // CHECK-NEXT: shard.all_slice %arg0 on @g grid_axes = [0] slice_axis = 0 : tensor<6x4xf32> -> tensor<3x4xf32>
  %2 = shard.all_slice %t on @g grid_axes = [0] slice_axis = 0 : tensor<6x4xf32> -> tensor<3x4xf32>
  // CHECK-NEXT: shard.broadcast %arg0 on @g grid_axes = [0, 1] root = [%arg1, 2] : (tensor<6x4xf32>, index) -> tensor<6x4xf32>
  %3 = shard.broadcast %t on @g grid_axes = [0, 1] root = [%i, 2] : (tensor<6x4xf32>, index) -> tensor<6x4xf32>
  // CHECK-NEXT: shard.shift %arg0 on @g grid_axes = [0] shift_axis = 0 offset = 1 rotate : tensor<6x4xf32> -> tensor<6x4xf32>
  %4 = shard.shift %t on @g grid_axes = [0] shift_axis = 0 offset = 1 rotate : tensor<6x4xf32> -> tensor<6x4xf32>
  return
}

// An all-reduce may reduce a memref.
// CHECK-LABEL: func.func @memref
func.func @memref(%m: memref<6x4xf32>) {
  // CHECK-NEXT: shard.all_reduce %arg0 on @g grid_axes = [0] : memref<6x4xf32> -> memref<6x4xf32>
  %0 = shard.all_reduce %m on @g grid_axes = [0] : memref<6x4xf32> -> memref<6x4xf32>
  return
}

// CHECK-LABEL: func.func @queries
func.func @queries() {
  // CHECK-NEXT: %grid_shape:2 = shard.grid_shape @g axes = [1, 0] : index, index
  %0:2 = shard.grid_shape @g axes = [1, 0] : index, index
  // CHECK-NEXT: shard.process_multi_index on @g : index, index
  %1:2 = shard.process_multi_index on @g : index, index
  // CHECK-NEXT: shard.process_linear_index on @g : index
  %2 = shard.process_linear_index on @g : index
  return
}

// Shardings are values; they cannot be partial.
// CHECK-LABEL: func.func @shardings
func.func @shardings(%t: tensor<6x4xf32>, %h: i64) -> !shard.sharding {
  // CHECK-NEXT: %sharding = shard.sharding @g split_axes = {{\[\[}}0], [1]] : !shard.sharding
  // GENERIC: "shard.sharding"() <{grid = @g, operandSegmentSizes = array<i32: 0, 0>, split_axes = #shard<axisarray{{\[\[}}0], [1]]>,
  %s = shard.sharding @g split_axes = [[0], [1]] : !shard.sharding
  // CHECK-NEXT: shard.sharding @line split_axes = {{\[\[}}0]] halo_sizes = [1, %arg1] : !shard.sharding
  %halos = shard.sharding @line split_axes = [[0]] halo_sizes = [1, %h] : !shard.sharding
  // CHECK-NEXT: %sharding_annotated = shard.shard %arg0 to %sharding annotate_for_users : tensor<6x4xf32>
  %0 = shard.shard %t to %s annotate_for_users : tensor<6x4xf32>
  // CHECK-NEXT: shard.get_sharding %sharding_annotated : tensor<6x4xf32> -> !shard.sharding
  %1 = shard.get_sharding %0 : tensor<6x4xf32> -> !shard.sharding
  return %1 : !shard.sharding
}

// Attributes that stand alone.
// CHECK: func.func @attributes() attributes {a = #shard<partial bitwise_or>, b = #shard<axisarray{{\[\[}}0], []]>}
func.func @attributes() attributes {a = #shard<partial bitwise_or>, b = #shard<axisarray[[0], []]>} {
  return
}
