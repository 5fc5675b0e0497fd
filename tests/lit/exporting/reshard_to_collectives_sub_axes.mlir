// RUN: sdy-opt %s -sdy-reshard-to-collectives | filecheck %s

// Sub-axes: both sides are cut until they speak of the same parts.

sdy.mesh @mesh = <["x"=8, "y"=8, "z"=4]>
sdy.mesh @odd = <["a"=12, "b"=6]>

// Gathered is the part that the target does not have.
// CHECK-LABEL: func.func @gather_minor_part
// CHECK-NEXT: %0 = sdy.all_gather [{"x":(2)4}, {}] %arg0 out_sharding=<@mesh, [{"x":(1)2}, {}]>
// CHECK-NEXT: return %0
func.func @gather_minor_part(%a: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x16xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x":(1)2}, {}]> : tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// Parts that belong together are written as one.
// CHECK-LABEL: func.func @slice_minor_part
// CHECK-NEXT: %0 = sdy.all_slice [{"x":(2)2}, {}] %arg0 out_sharding=<@mesh, [{"x":(1)4}, {}]>
// CHECK-NEXT: return %0
func.func @slice_minor_part(%a: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}, {}]>}) -> tensor<16x16xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x":(1)4}, {}]> : tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// The minor half moves.
// CHECK-LABEL: func.func @move_minor_part
// CHECK-NEXT: %0 = sdy.all_to_all [{"x":(2)2}: 0->1] %arg0 out_sharding=<@mesh, [{"x":(1)2}, {"x":(2)2}]>
// CHECK-NEXT: return %0
func.func @move_minor_part(%a: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)4}, {}]>}) -> tensor<16x16xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x":(1)2}, {"x":(2)2}]> : tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// Before the major part can move, a permute brings it to the end.
// CHECK-LABEL: func.func @move_major_part
// CHECK-NEXT: %0 = sdy.collective_permute %arg0 out_sharding=<@mesh, [{"x":(4)2, "x":(1)4}, {}]>
// CHECK-NEXT: %1 = sdy.all_to_all [{"x":(1)4}: 0->1] %0 out_sharding=<@mesh, [{"x":(4)2}, {"x":(1)4}]>
// CHECK-NEXT: return %1
func.func @move_major_part(%a: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x16xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x":(4)2}, {"x":(1)4}]> : tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// (1)4 and (2)4 share (2)2: what is missing of (2)4 is sliced behind it, and both parts move together.
// CHECK-LABEL: func.func @overlap
// CHECK-NEXT: %0 = sdy.all_slice [{"x":(4)2}, {}] %arg0 out_sharding=<@mesh, [{"x"}, {}]>
// CHECK-NEXT: %1 = sdy.all_to_all [{"x":(2)4}: 0->1] %0 out_sharding=<@mesh, [{"x":(1)2}, {"x":(2)4}]>
// CHECK-NEXT: %2 = sdy.all_gather [{"x":(1)2}, {}] %1 out_sharding=<@mesh, [{}, {"x":(2)4}]>
// CHECK-NEXT: return %2
func.func @overlap(%a: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)4}, {}]>}) -> tensor<16x16xf32> {
  %0 = sdy.reshard %a <@mesh, [{}, {"x":(2)4}]> : tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// As much is sliced as is lacking; then a permute puts the larger axis in the place of the smaller one.
// CHECK-LABEL: func.func @larger_replaces_smaller
// CHECK-NEXT: %0 = sdy.all_slice [{"x":(1)2}, {}] %arg0 out_sharding=<@mesh, [{"z", "x":(1)2}, {}]>
// CHECK-NEXT: %1 = sdy.collective_permute %0 out_sharding=<@mesh, [{"x"}, {}]>
// CHECK-NEXT: return %1
func.func @larger_replaces_smaller(%a: tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}, {}]>}) -> tensor<64x16xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x"}, {}]> : tensor<64x16xf32>
  return %0 : tensor<64x16xf32>
}

// The smaller axis takes the place of the major part; the rest is gathered.
// CHECK-LABEL: func.func @smaller_replaces_larger
// CHECK-NEXT: %0 = sdy.collective_permute %arg0 out_sharding=<@mesh, [{"z", "x":(4)2}, {}]>
// CHECK-NEXT: %1 = sdy.all_gather [{"x":(4)2}, {}] %0 out_sharding=<@mesh, [{"z"}, {}]>
// CHECK-NEXT: return %1
func.func @smaller_replaces_larger(%a: tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<64x16xf32> {
  %0 = sdy.reshard %a <@mesh, [{"z"}, {}]> : tensor<64x16xf32>
  return %0 : tensor<64x16xf32>
}

// Two parts in two dimensions become a whole axis again.
// CHECK-LABEL: func.func @whole_again
// CHECK-NEXT: %0 = sdy.all_to_all [{"x":(2)4}: 1->0] %arg0 out_sharding=<@mesh, [{"x"}, {}]>
// CHECK-NEXT: return %0
func.func @whole_again(%a: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}, {"x":(2)4}]>}) -> tensor<16x16xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x"}, {}]> : tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// Parts of an axis of size 12.
// CHECK-LABEL: func.func @three_and_four
// CHECK-NEXT: %0 = sdy.all_to_all [{"a":(3)4}: 1->0] %arg0 out_sharding=<@odd, [{"a"}, {}]>
// CHECK-NEXT: return %0
func.func @three_and_four(%a: tensor<24x24xf32> {sdy.sharding = #sdy.sharding<@odd, [{"a":(1)3}, {"a":(3)4}]>}) -> tensor<24x24xf32> {
  %0 = sdy.reshard %a <@odd, [{"a"}, {}]> : tensor<24x24xf32>
  return %0 : tensor<24x24xf32>
}
