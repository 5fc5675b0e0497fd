// RUN: sdy-opt %s -sdy-reshard-to-collectives | filecheck %s

// Collective-permutes: other axes of the same sizes, or the same axes in another order.

sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2, "w"=2]>
sdy.mesh @odd = <["a"=2, "b"=3, "c"=4]>

// An axis replaces another one.
// CHECK-LABEL: func.func @replace
// CHECK-NEXT: %0 = sdy.collective_permute %arg0 out_sharding=<@mesh, [{"y"}, {}]>
// CHECK-NEXT: return %0
func.func @replace(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{"y"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// The same axes in another order.
// CHECK-LABEL: func.func @reorder
// CHECK-NEXT: %0 = sdy.collective_permute %arg0 out_sharding=<@mesh, [{"z", "x", "y"}, {}]>
// CHECK-NEXT: return %0
func.func @reorder(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y", "z"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{"z", "x", "y"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// Two dimensions exchange axes.
// CHECK-LABEL: func.func @swap
// CHECK-NEXT: %0 = sdy.collective_permute %arg0 out_sharding=<@mesh, [{"y"}, {"x"}]>
// CHECK-NEXT: return %0
func.func @swap(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{"y"}, {"x"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// The moving axis is before a gathered one, but only minor-most axes can move.
// CHECK-LABEL: func.func @bring_to_the_end
// CHECK-NEXT: %0 = sdy.collective_permute %arg0 out_sharding=<@mesh, [{"y", "x"}, {}]>
// CHECK-NEXT: %1 = sdy.all_to_all [{"x"}: 0->1] %0 out_sharding=<@mesh, [{"y"}, {"x"}]>
// CHECK-NEXT: %2 = sdy.all_gather [{"y"}, {}] %1 out_sharding=<@mesh, [{}, {"x"}]>
// CHECK-NEXT: return %2
func.func @bring_to_the_end(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Axes that move to one dimension are made adjacent, in the order of the target.
// CHECK-LABEL: func.func @bring_together
// CHECK-NEXT: %0 = sdy.collective_permute %arg0 out_sharding=<@mesh, [{"y", "z", "x"}, {}, {}]>
// CHECK-NEXT: %1 = sdy.all_to_all [{"z", "x"}: 0->2] %0 out_sharding=<@mesh, [{"y"}, {}, {"z", "x"}]>
// CHECK-NEXT: %2 = sdy.all_to_all [{"y"}: 0->1] %1 out_sharding=<@mesh, [{}, {"y"}, {"z", "x"}]>
// CHECK-NEXT: return %2
func.func @bring_together(%a: tensor<16x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y", "z"}, {}, {}]>}) -> tensor<16x8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{}, {"y"}, {"z", "x"}]> : tensor<16x8x8xf32>
  return %0 : tensor<16x8x8xf32>
}

// The missing axis becomes major-most; the gathered axis keeps its position.
// CHECK-LABEL: func.func @what_is_gathered_keeps_its_place
// CHECK-NEXT: %0 = sdy.collective_permute %arg0 out_sharding=<@mesh, [{"w", "y", "z"}, {}]>
// CHECK-NEXT: %1 = sdy.all_gather [{"y", "z"}, {}] %0 out_sharding=<@mesh, [{"w"}, {}]>
// CHECK-NEXT: return %1
func.func @what_is_gathered_keeps_its_place(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y", "z"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{"w"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// A missing axis whose position is occupied is sliced elsewhere, then exchanged.
// CHECK-LABEL: func.func @slice_where_room_is
// CHECK-NEXT: %0 = sdy.all_slice [{}, {"y"}] %arg0 out_sharding=<@mesh, [{"x"}, {"y"}]>
// CHECK-NEXT: %1 = sdy.collective_permute %0 out_sharding=<@mesh, [{"y"}, {"x"}]>
// CHECK-NEXT: return %1
func.func @slice_where_room_is(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{"y"}, {"x"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// An axis of size 3 cannot replace one of size 2: it moves after it, then a collective-permute makes it
// major-most.
// CHECK-LABEL: func.func @sizes_that_do_not_divide
// CHECK-NEXT: %0 = sdy.all_slice [{}, {"c"}] %arg0 out_sharding=<@odd, [{"a"}, {"b", "c"}]>
// CHECK-NEXT: %1 = sdy.collective_permute %0 out_sharding=<@odd, [{"a"}, {"c", "b"}]>
// CHECK-NEXT: %2 = sdy.all_to_all [{"b"}: 1->0] %1 out_sharding=<@odd, [{"a", "b"}, {"c"}]>
// CHECK-NEXT: %3 = sdy.collective_permute %2 out_sharding=<@odd, [{"b", "a"}, {"c"}]>
// CHECK-NEXT: %4 = sdy.all_gather [{"a"}, {}] %3 out_sharding=<@odd, [{"b"}, {"c"}]>
// CHECK-NEXT: return %4
func.func @sizes_that_do_not_divide(%a: tensor<12x12xf32> {sdy.sharding = #sdy.sharding<@odd, [{"a"}, {"b"}]>}) -> tensor<12x12xf32> {
  %0 = sdy.reshard %a <@odd, [{"b"}, {"c"}]> : tensor<12x12xf32>
  return %0 : tensor<12x12xf32>
}
