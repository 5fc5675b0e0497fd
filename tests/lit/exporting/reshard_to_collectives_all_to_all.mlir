// RUN: sdy-opt %s -sdy-reshard-to-collectives | filecheck %s

// All-to-alls: axes that move from the end of one dimension to the end of another.

sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2, "w"=4]>

// An axis moves from one dimension to another.
// CHECK-LABEL: func.func @move
// CHECK-NEXT: %0 = sdy.all_to_all [{"x"}: 0->1] %arg0 out_sharding=<@mesh, [{}, {"x"}]>
// CHECK-NEXT: return %0
func.func @move(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// The common prefix is kept.
// CHECK-LABEL: func.func @move_behind_others
// CHECK-NEXT: %0 = sdy.all_to_all [{"y"}: 0->1] %arg0 out_sharding=<@mesh, [{"x"}, {"z", "y"}]>
// CHECK-NEXT: return %0
func.func @move_behind_others(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x"}, {"z", "y"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Several axes that move together.
// CHECK-LABEL: func.func @move_two_axes
// CHECK-NEXT: %0 = sdy.all_to_all [{"y", "z"}: 0->1] %arg0 out_sharding=<@mesh, [{"x"}, {"y", "z"}]>
// CHECK-NEXT: return %0
func.func @move_two_axes(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y", "z"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x"}, {"y", "z"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// If axes move to two dimensions, the minor-most move first.
// CHECK-LABEL: func.func @two_targets
// CHECK-NEXT: %0 = sdy.all_to_all [{"y"}: 0->2] %arg0 out_sharding=<@mesh, [{"x"}, {}, {"y"}]>
// CHECK-NEXT: %1 = sdy.all_to_all [{"x"}: 0->1] %0 out_sharding=<@mesh, [{}, {"x"}, {"y"}]>
// CHECK-NEXT: return %1
func.func @two_targets(%a: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}, {}]>}) -> tensor<8x8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{}, {"x"}, {"y"}]> : tensor<8x8x8xf32>
  return %0 : tensor<8x8x8xf32>
}

// If two dimensions move axes to a third, the one whose axes come first there moves first.
// CHECK-LABEL: func.func @two_sources_in_order
// CHECK-NEXT: %0 = sdy.all_to_all [{"y"}: 1->2] %arg0 out_sharding=<@mesh, [{"x"}, {}, {"y"}]>
// CHECK-NEXT: %1 = sdy.all_to_all [{"x"}: 0->2] %0 out_sharding=<@mesh, [{}, {}, {"y", "x"}]>
// CHECK-NEXT: return %1
func.func @two_sources_in_order(%a: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}, {}]>}) -> tensor<8x8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{}, {}, {"y", "x"}]> : tensor<8x8x8xf32>
  return %0 : tensor<8x8x8xf32>
}

// If an all-slice fits after the moving axis, one all-to-all moves both.
// CHECK-LABEL: func.func @slice_before_move
// CHECK-NEXT: %0 = sdy.all_slice [{"y"}, {}] %arg0 out_sharding=<@mesh, [{"x", "y"}, {}]>
// CHECK-NEXT: %1 = sdy.all_to_all [{"x", "y"}: 0->1] %0 out_sharding=<@mesh, [{}, {"x", "y"}]>
// CHECK-NEXT: return %1
func.func @slice_before_move(%a: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x16xf32> {
  %0 = sdy.reshard %a <@mesh, [{}, {"x", "y"}]> : tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// If the dimension is too small for that, the all-slice is in the target dimension, and a collective-permute
// sorts the axes.
// CHECK-LABEL: func.func @no_room_to_slice
// CHECK-NEXT: %0 = sdy.all_slice [{}, {"y"}] %arg0 out_sharding=<@mesh, [{"x"}, {"y"}]>
// CHECK-NEXT: %1 = sdy.collective_permute %0 out_sharding=<@mesh, [{"y"}, {"x"}]>
// CHECK-NEXT: %2 = sdy.all_to_all [{"y"}: 0->1] %1 out_sharding=<@mesh, [{}, {"x", "y"}]>
// CHECK-NEXT: return %2
func.func @no_room_to_slice(%a: tensor<2x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<2x16xf32> {
  %0 = sdy.reshard %a <@mesh, [{}, {"x", "y"}]> : tensor<2x16xf32>
  return %0 : tensor<2x16xf32>
}

// Axes after a gathered axis move first.
// CHECK-LABEL: func.func @move_then_gather
// CHECK-NEXT: %0 = sdy.all_to_all [{"y"}: 0->1] %arg0 out_sharding=<@mesh, [{"x"}, {"y"}]>
// CHECK-NEXT: %1 = sdy.all_gather [{"x"}, {}] %0 out_sharding=<@mesh, [{}, {"y"}]>
// CHECK-NEXT: return %1
func.func @move_then_gather(%a: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> tensor<16x16xf32> {
  %0 = sdy.reshard %a <@mesh, [{}, {"y"}]> : tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// A sub-axis of the larger axis replaces the smaller one; the rest of it follows.
// CHECK-LABEL: func.func @swap_unequal
// CHECK-NEXT: %0 = sdy.collective_permute %arg0 out_sharding=<@mesh, [{"w":(1)2}, {"x", "w":(2)2}]>
// CHECK-NEXT: %1 = sdy.all_to_all [{"w":(2)2}: 1->0] %0 out_sharding=<@mesh, [{"w"}, {"x"}]>
// CHECK-NEXT: return %1
func.func @swap_unequal(%a: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"w"}]>}) -> tensor<16x16xf32> {
  %0 = sdy.reshard %a <@mesh, [{"w"}, {"x"}]> : tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}
