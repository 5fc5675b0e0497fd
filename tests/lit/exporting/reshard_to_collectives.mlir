// RUN: sdy-opt %s -sdy-reshard-to-collectives | filecheck %s

// All-gathers and all-slices: axes that are removed from, or added to, the end of a dimension.

sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2, "w"=2]>
sdy.mesh @odd = <["a"=2, "b"=6]>

// The axes after the common prefix are gathered.
// CHECK-LABEL: func.func @gather_suffix
// CHECK-NEXT: %0 = sdy.all_gather [{"y", "z"}, {}] %arg0 out_sharding=<@mesh, [{"x"}, {}]>
// CHECK-NEXT: return %0
func.func @gather_suffix(%a: tensor<16x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y", "z"}, {}]>}) -> tensor<16x2xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x"}, {}]> : tensor<16x2xf32>
  return %0 : tensor<16x2xf32>
}

// One all-gather for all dimensions.
// CHECK-LABEL: func.func @gather_dimensions
// CHECK-NEXT: %0 = sdy.all_gather [{"x"}, {"z"}] %arg0 out_sharding=<@mesh, [{}, {"y"}]>
// CHECK-NEXT: return %0
func.func @gather_dimensions(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y", "z"}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{}, {"y"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// A replicated target gathers all axes.
// CHECK-LABEL: func.func @gather_all
// CHECK-NEXT: %0 = sdy.all_gather [{"x"}, {"y"}] %arg0 out_sharding=<@mesh, [{}, {}]>
// CHECK-NEXT: return %0
func.func @gather_all(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// An all-slice needs no communication.
// CHECK-LABEL: func.func @slice_suffix
// CHECK-NEXT: %0 = sdy.all_slice [{"y"}, {"z"}] %arg0 out_sharding=<@mesh, [{"x", "y"}, {"z"}]>
// CHECK-NEXT: return %0
func.func @slice_suffix(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x", "y"}, {"z"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// A tensor without a sharding is replicated.
// CHECK-LABEL: func.func @slice_unsharded
// CHECK-NEXT: %0 = sdy.all_slice [{"x"}, {}] %arg0 out_sharding=<@mesh, [{"x"}, {}]>
// CHECK-NEXT: return %0
func.func @slice_unsharded(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// An all-slice precedes an all-gather.
// CHECK-LABEL: func.func @slice_then_gather
// CHECK-NEXT: %0 = sdy.all_slice [{}, {"z"}] %arg0 out_sharding=<@mesh, [{"x", "y"}, {"z"}]>
// CHECK-NEXT: %1 = sdy.all_gather [{"y"}, {}] %0 out_sharding=<@mesh, [{"x"}, {"z"}]>
// CHECK-NEXT: return %1
func.func @slice_then_gather(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x"}, {"z"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Axis sizes need not divide the dimensions.
// CHECK-LABEL: func.func @uneven
// CHECK-NEXT: %0 = sdy.all_slice [{}, {"z"}] %arg0 out_sharding=<@mesh, [{"x", "y"}, {"z"}]>
// CHECK-NEXT: %1 = sdy.all_gather [{"y"}, {}] %0 out_sharding=<@mesh, [{"x"}, {"z"}]>
// CHECK-NEXT: return %1
func.func @uneven(%a: tensor<7x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> tensor<7x5xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x"}, {"z"}]> : tensor<7x5xf32>
  return %0 : tensor<7x5xf32>
}

// A scalar has no dimensions to shard: the reshard is removed.
// CHECK-LABEL: func.func @scalar
// CHECK-NEXT: return %arg0
func.func @scalar(%a: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}) -> tensor<f32> {
  %0 = sdy.reshard %a <@mesh, []> : tensor<f32>
  return %0 : tensor<f32>
}

// Closed and open dimensions, priorities and replicated axes do not matter.
// CHECK-LABEL: func.func @nothing_changes
// CHECK-NEXT: return %arg0
func.func @nothing_changes(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}p1, {}], replicated={"w"}>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x"}, {?}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// From replicated to replicated, on any mesh.
// CHECK-LABEL: func.func @both_replicated
// CHECK-NEXT: return %arg0
func.func @both_replicated(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {?}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{?}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Axes are sliced after the present ones; a later collective puts them in order.
// CHECK-LABEL: func.func @slice_then_permute
// CHECK-NEXT: %0 = sdy.all_slice [{"a"}, {}] %arg0 out_sharding=<@odd, [{"b", "a"}, {}]>
// CHECK-NEXT: %1 = sdy.collective_permute %0 out_sharding=<@odd, [{"a", "b"}, {}]>
// CHECK-NEXT: return %1
func.func @slice_then_permute(%a: tensor<24x24xf32> {sdy.sharding = #sdy.sharding<@odd, [{"b"}, {}]>}) -> tensor<24x24xf32> {
  %0 = sdy.reshard %a <@odd, [{"a", "b"}, {}]> : tensor<24x24xf32>
  return %0 : tensor<24x24xf32>
}
