// RUN: sdy-opt %s -sdy-reshard-to-collectives | filecheck %s

// Gathers and slices: axes that a dimension loses or gets at its end.

sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2, "w"=2]>
sdy.mesh @odd = <["a"=2, "b"=6]>

// What stands behind the axes that both have is gathered.
// CHECK-LABEL: func.func @gather_suffix
// CHECK-NEXT: %0 = sdy.all_gather [{"y", "z"}, {}] %arg0 out_sharding=<@mesh, [{"x"}, {}]>
// CHECK-NEXT: return %0
func.func @gather_suffix(%a: tensor<16x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y", "z"}, {}]>}) -> tensor<16x2xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x"}, {}]> : tensor<16x2xf32>
  return %0 : tensor<16x2xf32>
}

// One all-gather serves all dimensions.
// CHECK-LABEL: func.func @gather_dimensions
// CHECK-NEXT: %0 = sdy.all_gather [{"x"}, {"z"}] %arg0 out_sharding=<@mesh, [{}, {"y"}]>
// CHECK-NEXT: return %0
func.func @gather_dimensions(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y", "z"}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{}, {"y"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// A target that is not split gathers everything.
// CHECK-LABEL: func.func @gather_all
// CHECK-NEXT: %0 = sdy.all_gather [{"x"}, {"y"}] %arg0 out_sharding=<@mesh, [{}, {}]>
// CHECK-NEXT: return %0
func.func @gather_all(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Slicing needs no communication.
// CHECK-LABEL: func.func @slice_suffix
// CHECK-NEXT: %0 = sdy.all_slice [{"y"}, {"z"}] %arg0 out_sharding=<@mesh, [{"x", "y"}, {"z"}]>
// CHECK-NEXT: return %0
func.func @slice_suffix(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x", "y"}, {"z"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// A tensor without a sharding is on all devices.
// CHECK-LABEL: func.func @slice_unsharded
// CHECK-NEXT: %0 = sdy.all_slice [{"x"}, {}] %arg0 out_sharding=<@mesh, [{"x"}, {}]>
// CHECK-NEXT: return %0
func.func @slice_unsharded(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// First smaller, then larger: a slice comes before a gather.
// CHECK-LABEL: func.func @slice_then_gather
// CHECK-NEXT: %0 = sdy.all_slice [{}, {"z"}] %arg0 out_sharding=<@mesh, [{"x", "y"}, {"z"}]>
// CHECK-NEXT: %1 = sdy.all_gather [{"y"}, {}] %0 out_sharding=<@mesh, [{"x"}, {"z"}]>
// CHECK-NEXT: return %1
func.func @slice_then_gather(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x"}, {"z"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Sizes of dimensions need not divide.
// CHECK-LABEL: func.func @uneven
// CHECK-NEXT: %0 = sdy.all_slice [{}, {"z"}] %arg0 out_sharding=<@mesh, [{"x", "y"}, {"z"}]>
// CHECK-NEXT: %1 = sdy.all_gather [{"y"}, {}] %0 out_sharding=<@mesh, [{"x"}, {"z"}]>
// CHECK-NEXT: return %1
func.func @uneven(%a: tensor<7x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> tensor<7x5xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x"}, {"z"}]> : tensor<7x5xf32>
  return %0 : tensor<7x5xf32>
}

// Nothing can be split here, and nothing is left to do.
// CHECK-LABEL: func.func @scalar
// CHECK-NEXT: return %arg0
func.func @scalar(%a: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}) -> tensor<f32> {
  %0 = sdy.reshard %a <@mesh, []> : tensor<f32>
  return %0 : tensor<f32>
}

// Open or closed, priorities and explicit copies make no difference to where the data is.
// CHECK-LABEL: func.func @nothing_changes
// CHECK-NEXT: return %arg0
func.func @nothing_changes(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}p1, {}], replicated={"w"}>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x"}, {?}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// From all devices to all devices, on whatever mesh.
// CHECK-LABEL: func.func @both_replicated
// CHECK-NEXT: return %arg0
func.func @both_replicated(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {?}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{?}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Slices go behind what is there, wherever they are to be in the end.
// CHECK-LABEL: func.func @slice_then_permute
// CHECK-NEXT: %0 = sdy.all_slice [{"a"}, {}] %arg0 out_sharding=<@odd, [{"b", "a"}, {}]>
// CHECK-NEXT: %1 = sdy.collective_permute %0 out_sharding=<@odd, [{"a", "b"}, {}]>
// CHECK-NEXT: return %1
func.func @slice_then_permute(%a: tensor<24x24xf32> {sdy.sharding = #sdy.sharding<@odd, [{"b"}, {}]>}) -> tensor<24x24xf32> {
  %0 = sdy.reshard %a <@odd, [{"a", "b"}, {}]> : tensor<24x24xf32>
  return %0 : tensor<24x24xf32>
}
