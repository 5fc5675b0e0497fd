// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | filecheck %s
// RUN: sdy-opt %s -sdy-populate-op-sharding-rules --sdy-version=jaxlib-0.11.2 | filecheck %s --check-prefix=SEPTEMBER
// RUN: sdy-opt %s -sdy-populate-op-sharding-rules --sdy-version=jaxlib-0.10.2 | filecheck %s --check-prefix=JUNE

// Operations that slice, concatenate, gather, scatter and reduce.

// Slices and padding move elements by constant offsets, along the dimensions that change size.
// CHECK-LABEL: func.func @static_bounds
func.func @static_bounds(%a: tensor<8x4xf32>, %zero: tensor<f32>) {
  // CHECK: stablehlo.slice{{.*}}#sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=4} permutation={j}>
  %0 = stablehlo.slice %a [0:8, 1:3] : (tensor<8x4xf32>) -> tensor<8x2xf32>
  // CHECK: stablehlo.pad{{.*}}#sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=8, j=4} permutation={j}>
  %1 = stablehlo.pad %a, %zero, low = [0, 1], high = [0, 1], interior = [0, 0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x6xf32>
  return
}

// Since jaxlib 0.12.0.1, the padding decides and not the sizes, which are equal here.
// CHECK-LABEL: func.func @shift
// SEPTEMBER-LABEL: func.func @shift
func.func @shift(%a: tensor<8x4xf32>, %zero: tensor<f32>) {
  // CHECK: stablehlo.pad{{.*}}#sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=8, j=4} permutation={j}>
  // SEPTEMBER: stablehlo.pad{{.*}}#sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=8, j=4}>
  %0 = stablehlo.pad %a, %zero, low = [0, 1], high = [0, -1], interior = [0, 0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
  // Interior padding of a single element inserts nothing, but counts as well.
  // CHECK: stablehlo.pad{{.*}}#sdy.op_sharding_rule<([], [])->([])>
  // CHECK: stablehlo.pad{{.*}}#sdy.op_sharding_rule<([i], [])->([i]) {i=1} permutation={i}>
  %1 = stablehlo.pad %zero, %zero, low = [], high = [], interior = [] : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %2 = stablehlo.reshape %1 : (tensor<f32>) -> tensor<1xf32>
  %3 = stablehlo.pad %2, %zero, low = [0], high = [0], interior = [2] : (tensor<1xf32>, tensor<f32>) -> tensor<1xf32>
  return
}

// The start of a dynamic slice is not constant, so the sliced dimension needs replication.
// CHECK-LABEL: func.func @dynamic_slice
func.func @dynamic_slice(%a: tensor<8x4xf32>, %at: tensor<i32>) {
  // CHECK: stablehlo.dynamic_slice{{.*}}#sdy.op_sharding_rule<([i, j], [], [])->([i, j]) {i=8, j=4} need_replication={j} blocked_propagation={j}>
  %0 = stablehlo.dynamic_slice %a, %at, %at, sizes = [8, 2] : (tensor<8x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x2xf32>
  return
}

// An updated dimension is a permutation factor of the operand and another one of the update. Before jaxlib 0.11.2, each
// device updated its own shard; the update needed replication, unless the start indices were constants.
// CHECK-LABEL: func.func @dynamic_update_slice
// JUNE-LABEL: func.func @dynamic_update_slice
func.func @dynamic_update_slice(%a: tensor<8x4xf32>, %update: tensor<8x2xf32>, %at: tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  // CHECK: stablehlo.dynamic_update_slice{{.*}}#sdy.op_sharding_rule<([i, j], [i, k], [], [])->([i, j]) {i=8, j=4, k=2} permutation={j, k}>
  // JUNE: stablehlo.dynamic_update_slice{{.*}}#sdy.op_sharding_rule<([i, j], [i, k], [], [])->([i, j]) {i=8, j=4, k=2} need_replication={k}>
  %0 = stablehlo.dynamic_update_slice %a, %update, %zero, %at : (tensor<8x4xf32>, tensor<8x2xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>
  // CHECK: stablehlo.dynamic_update_slice{{.*}}#sdy.op_sharding_rule<([i, j], [i, k], [], [])->([i, j]) {i=8, j=4, k=2} permutation={j, k}>
  // JUNE: stablehlo.dynamic_update_slice{{.*}}#sdy.op_sharding_rule<([i, j], [i, k], [], [])->([i, j]) {i=8, j=4, k=2}>
  %1 = stablehlo.dynamic_update_slice %a, %update, %zero, %zero : (tensor<8x4xf32>, tensor<8x2xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>
  return
}

// The concatenated dimension needs replication.
// CHECK-LABEL: func.func @concatenate
func.func @concatenate(%a: tensor<8x4xf32>, %b: tensor<8x2xf32>) {
  // CHECK: stablehlo.concatenate{{.*}}#sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=8, j=6} need_replication={j}>
  %0 = stablehlo.concatenate %a, %b, dim = 1 : (tensor<8x4xf32>, tensor<8x2xf32>) -> tensor<8x6xf32>
  return
}

// Concatenated slices move elements between devices, whatever they are slices of.
// CHECK-LABEL: func.func @concatenate_slices
func.func @concatenate_slices(%a: tensor<8xf32>, %b: tensor<8xf32>) {
  // CHECK: stablehlo.slice{{.*}}#sdy.op_sharding_rule<([i])->([i]) {i=8} permutation={i}>
  %left = stablehlo.slice %a [0:4] : (tensor<8xf32>) -> tensor<4xf32>
  // CHECK: stablehlo.slice{{.*}}#sdy.op_sharding_rule<([i])->([i]) {i=8} permutation={i}>
  %right = stablehlo.slice %b [4:8] : (tensor<8xf32>) -> tensor<4xf32>
  // CHECK: stablehlo.concatenate{{.*}}#sdy.op_sharding_rule<([i], [i])->([i]) {i=8} permutation={i}>
  %0 = stablehlo.concatenate %right, %left, dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return
}

// So do a tensor and slices of it (a rotation), but not a tensor and slices of another one.
// CHECK-LABEL: func.func @concatenate_with_slice
func.func @concatenate_with_slice(%a: tensor<8xf32>, %b: tensor<8xf32>) {
  // CHECK: stablehlo.slice{{.*}}#sdy.op_sharding_rule<([i])->([i]) {i=8} permutation={i}>
  %part = stablehlo.slice %a [0:2] : (tensor<8xf32>) -> tensor<2xf32>
  // CHECK: stablehlo.concatenate{{.*}}#sdy.op_sharding_rule<([i], [i])->([i]) {i=10} permutation={i}>
  %0 = stablehlo.concatenate %a, %part, dim = 0 : (tensor<8xf32>, tensor<2xf32>) -> tensor<10xf32>
  // CHECK: stablehlo.concatenate{{.*}}#sdy.op_sharding_rule<([i], [i])->([i]) {i=10} need_replication={i}>
  %1 = stablehlo.concatenate %b, %part, dim = 0 : (tensor<8xf32>, tensor<2xf32>) -> tensor<10xf32>
  // CHECK: stablehlo.concatenate{{.*}}#sdy.op_sharding_rule<([i], [i])->([i]) {i=16} need_replication={i}>
  %2 = stablehlo.concatenate %a, %a, dim = 0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  return
}

// A gather of rows: i is the number of indices, j the columns. Along k, each device gathers its own rows.
// CHECK-LABEL: func.func @gather
func.func @gather(%a: tensor<16x4xf32>, %rows: tensor<8x1xi32>) {
  // CHECK: stablehlo.gather{{.*}}#sdy.op_sharding_rule<([k, j], [i, l])->([i, j]) {i=8, j=4, k=16, l=1} reduction={k} need_replication={l}>
  %0 = "stablehlo.gather"(%a, %rows) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<16x4xf32>, tensor<8x1xi32>) -> tensor<8x4xf32>
  return
}

// The operand may have a batching dimension. A sliced dimension is a reduction factor if the slice has size 1,
// and needs replication otherwise. Without an index vector dimension there is no factor for it.
// CHECK-LABEL: func.func @gather_batches
func.func @gather_batches(%a: tensor<3x16x6xf32>, %at: tensor<3x8xi32>) {
  // CHECK: stablehlo.gather{{.*}}#sdy.op_sharding_rule<([i, k, m], [i, j])->([i, j, l, m]) {i=3, j=8, k=16, l=1, m=6} reduction={k} need_replication={l, m} blocked_propagation={m}>
  %0 = "stablehlo.gather"(%a, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 3], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 5>}> : (tensor<3x16x6xf32>, tensor<3x8xi32>) -> tensor<3x8x1x5xf32>
  return
}

// With a commutative reducer, updates are sharded, and the results reduced.
// CHECK-LABEL: func.func @scatter_add
func.func @scatter_add(%a: tensor<16x4xf32>, %rows: tensor<8x1xi32>, %update: tensor<8x4xf32>) {
  // CHECK: #sdy.op_sharding_rule<([k, j], [i, l], [i, j])->([k, j]) {i=8, j=4, k=16, l=1} reduction={i} need_replication={l}>
  %0 = "stablehlo.scatter"(%a, %rows, %update) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %sum = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<16x4xf32>, tensor<8x1xi32>, tensor<8x4xf32>) -> tensor<16x4xf32>
  return
}

// Updates that overwrite each other depend on their order, so they need replication.
// CHECK-LABEL: func.func @scatter_overwrite
func.func @scatter_overwrite(%a: tensor<16x4xf32>, %rows: tensor<8x1xi32>, %update: tensor<8x2xf32>) {
  // CHECK: #sdy.op_sharding_rule<([l, j], [i, m], [i, k])->([l, j]) {i=8, j=4, k=2, l=16, m=1} need_replication={i, j, k, m}>
  %0 = "stablehlo.scatter"(%a, %rows, %update) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    stablehlo.return %new : tensor<f32>
  }) : (tensor<16x4xf32>, tensor<8x1xi32>, tensor<8x2xf32>) -> tensor<16x4xf32>
  return
}

// A reduced dimension is a reduction factor; initial values have no dimensions.
// CHECK-LABEL: func.func @reduce
func.func @reduce(%a: tensor<8x4xf32>, %b: tensor<8x4xi32>, %zero: tensor<f32>, %none: tensor<i32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j], [i, j], [], [])->([i], [i]) {i=8, j=4} reduction={j}>
  %0:2 = stablehlo.reduce(%a init: %zero), (%b init: %none) across dimensions = [1] : (tensor<8x4xf32>, tensor<8x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>)
   reducer(%x: tensor<f32>, %s: tensor<f32>) (%y: tensor<i32>, %t: tensor<i32>) {
    stablehlo.return %x, %y : tensor<f32>, tensor<i32>
  }
  return
}

// Windows of one element are pass-through; others need elements of the next device.
// CHECK-LABEL: func.func @reduce_window
func.func @reduce_window(%a: tensor<8x4xf32>, %zero: tensor<f32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=8, j=3} permutation={j}>
  %0 = "stablehlo.reduce_window"(%a, %zero) <{window_dimensions = array<i64: 1, 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %max = stablehlo.maximum %x, %y : tensor<f32>
    stablehlo.return %max : tensor<f32>
  }) : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x3xf32>
  return
}

// The source has one element per window.
// CHECK-LABEL: func.func @select_and_scatter
func.func @select_and_scatter(%a: tensor<8x4xf32>, %source: tensor<8x2xf32>, %zero: tensor<f32>) {
  // CHECK: #sdy.op_sharding_rule<([i, k], [i, j], [])->([i, k]) {i=8, j=2, k=4} need_replication={j} permutation={k}>
  %0 = "stablehlo.select_and_scatter"(%a, %source, %zero) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %more = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<8x4xf32>, tensor<8x2xf32>, tensor<f32>) -> tensor<8x4xf32>
  return
}

// The sort dimension needs replication; propagation is blocked if no other dimension has a size above 1.
// CHECK-LABEL: func.func @sort
func.func @sort(%a: tensor<8x4xf32>, %b: tensor<1x4xf32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=4} need_replication={j}>
  %0 = "stablehlo.sort"(%a) <{dimension = 1 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %less = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=1, j=4} need_replication={j} blocked_propagation={j}>
  %1 = "stablehlo.sort"(%b) <{dimension = 1 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %less = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return
}
