// RUN: sdy-opt %s -sdy-reshard-to-collectives | filecheck %s

// Sub-axes: axes of both shardings are split at common boundaries.

sdy.mesh @mesh = <["x"=8, "y"=8, "z"=4]>
sdy.mesh @odd = <["a"=12, "b"=6]>

// The sub-axis that the target lacks is gathered.
// CHECK-LABEL: func.func @gather_minor_part
// CHECK-NEXT: %0 = sdy.all_gather [{"x":(2)4}, {}] %arg0 out_sharding=<@mesh, [{"x":(1)2}, {}]>
// CHECK-NEXT: return %0
func.func @gather_minor_part(%a: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x16xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x":(1)2}, {}]> : tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// Adjacent sub-axes are merged.
// CHECK-LABEL: func.func @slice_minor_part
// CHECK-NEXT: %0 = sdy.all_slice [{"x":(2)2}, {}] %arg0 out_sharding=<@mesh, [{"x":(1)4}, {}]>
// CHECK-NEXT: return %0
func.func @slice_minor_part(%a: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}, {}]>}) -> tensor<16x16xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x":(1)4}, {}]> : tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// The minor sub-axis moves.
// CHECK-LABEL: func.func @move_minor_part
// CHECK-NEXT: %0 = sdy.all_to_all [{"x":(2)2}: 0->1] %arg0 out_sharding=<@mesh, [{"x":(1)2}, {"x":(2)2}]>
// CHECK-NEXT: return %0
func.func @move_minor_part(%a: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)4}, {}]>}) -> tensor<16x16xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x":(1)2}, {"x":(2)2}]> : tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// Before the major sub-axis moves, a collective-permute makes it minor-most.
// CHECK-LABEL: func.func @move_major_part
// CHECK-NEXT: %0 = sdy.collective_permute %arg0 out_sharding=<@mesh, [{"x":(4)2, "x":(1)4}, {}]>
// CHECK-NEXT: %1 = sdy.all_to_all [{"x":(1)4}: 0->1] %0 out_sharding=<@mesh, [{"x":(4)2}, {"x":(1)4}]>
// CHECK-NEXT: return %1
func.func @move_major_part(%a: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x16xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x":(4)2}, {"x":(1)4}]> : tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// (1)4 and (2)4 share (2)2: the rest of (2)4 is sliced after it, and both sub-axes move together.
// CHECK-LABEL: func.func @overlap
// CHECK-NEXT: %0 = sdy.all_slice [{"x":(4)2}, {}] %arg0 out_sharding=<@mesh, [{"x"}, {}]>
// CHECK-NEXT: %1 = sdy.all_to_all [{"x":(2)4}: 0->1] %0 out_sharding=<@mesh, [{"x":(1)2}, {"x":(2)4}]>
// CHECK-NEXT: %2 = sdy.all_gather [{"x":(1)2}, {}] %1 out_sharding=<@mesh, [{}, {"x":(2)4}]>
// CHECK-NEXT: return %2
func.func @overlap(%a: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)4}, {}]>}) -> tensor<16x16xf32> {
  %0 = sdy.reshard %a <@mesh, [{}, {"x":(2)4}]> : tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// The missing size is sliced; then a collective-permute replaces the smaller axis with the larger one.
// CHECK-LABEL: func.func @larger_replaces_smaller
// CHECK-NEXT: %0 = sdy.all_slice [{"x":(1)2}, {}] %arg0 out_sharding=<@mesh, [{"z", "x":(1)2}, {}]>
// CHECK-NEXT: %1 = sdy.collective_permute %0 out_sharding=<@mesh, [{"x"}, {}]>
// CHECK-NEXT: return %1
func.func @larger_replaces_smaller(%a: tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}, {}]>}) -> tensor<64x16xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x"}, {}]> : tensor<64x16xf32>
  return %0 : tensor<64x16xf32>
}

// The smaller axis replaces the major sub-axis; the rest is gathered.
// CHECK-LABEL: func.func @smaller_replaces_larger
// CHECK-NEXT: %0 = sdy.collective_permute %arg0 out_sharding=<@mesh, [{"z", "x":(4)2}, {}]>
// CHECK-NEXT: %1 = sdy.all_gather [{"x":(4)2}, {}] %0 out_sharding=<@mesh, [{"z"}, {}]>
// CHECK-NEXT: return %1
func.func @smaller_replaces_larger(%a: tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<64x16xf32> {
  %0 = sdy.reshard %a <@mesh, [{"z"}, {}]> : tensor<64x16xf32>
  return %0 : tensor<64x16xf32>
}

// Two sub-axes in two dimensions become a full axis.
// CHECK-LABEL: func.func @whole_again
// CHECK-NEXT: %0 = sdy.all_to_all [{"x":(2)4}: 1->0] %arg0 out_sharding=<@mesh, [{"x"}, {}]>
// CHECK-NEXT: return %0
func.func @whole_again(%a: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}, {"x":(2)4}]>}) -> tensor<16x16xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x"}, {}]> : tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// Sub-axes of an axis of size 12.
// CHECK-LABEL: func.func @three_and_four
// CHECK-NEXT: %0 = sdy.all_to_all [{"a":(3)4}: 1->0] %arg0 out_sharding=<@odd, [{"a"}, {}]>
// CHECK-NEXT: return %0
func.func @three_and_four(%a: tensor<24x24xf32> {sdy.sharding = #sdy.sharding<@odd, [{"a":(1)3}, {"a":(3)4}]>}) -> tensor<24x24xf32> {
  %0 = sdy.reshard %a <@odd, [{"a"}, {}]> : tensor<24x24xf32>
  return %0 : tensor<24x24xf32>
}
