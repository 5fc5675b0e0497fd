// RUN: sdy-opt %s -sdy-reshard-to-collectives | filecheck %s

// Meshes: the same axes with the devices in another order, or other axes.

sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @reversed = <["x"=2, "y"=2], device_ids=[3, 2, 1, 0]>
sdy.mesh @other = <["a"=4]>
sdy.mesh @one_device = <[], device_ids=[0]>
sdy.mesh @empty = <[]>

// Other devices, the same axes: each device sends its chunk to another.
// CHECK-LABEL: func.func @other_order
// CHECK-NEXT: %0 = sdy.collective_permute %arg0 out_sharding=<@reversed, [{"x"}, {"y"}]>
// CHECK-NEXT: return %0
func.func @other_order(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@reversed, [{"x"}, {"y"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// One permute brings both, other axes and other devices.
// CHECK-LABEL: func.func @permute_once
// CHECK-NEXT: %0 = sdy.collective_permute %arg0 out_sharding=<@reversed, [{"y"}, {}]>
// CHECK-NEXT: return %0
func.func @permute_once(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@reversed, [{"y"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// What comes before the permute is done on the mesh of the source.
// CHECK-LABEL: func.func @slice_before
// CHECK-NEXT: %0 = sdy.all_slice [{}, {"y"}] %arg0 out_sharding=<@mesh, [{"x"}, {"y"}]>
// CHECK-NEXT: %1 = sdy.collective_permute %0 out_sharding=<@reversed, [{"x"}, {"y"}]>
// CHECK-NEXT: return %1
func.func @slice_before(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@reversed, [{"x"}, {"y"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// What comes after it is done on the mesh of the target.
// CHECK-LABEL: func.func @gather_after
// CHECK-NEXT: %0 = sdy.collective_permute %arg0 out_sharding=<@reversed, [{"x"}, {"y"}]>
// CHECK-NEXT: %1 = sdy.all_gather [{}, {"y"}] %0 out_sharding=<@reversed, [{"x"}, {}]>
// CHECK-NEXT: return %1
func.func @gather_after(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@reversed, [{"x"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// What is gathered completely stays on its mesh.
// CHECK-LABEL: func.func @gather_all
// CHECK-NEXT: %0 = sdy.all_gather [{"x"}, {"y"}] %arg0 out_sharding=<@mesh, [{}, {}]>
// CHECK-NEXT: return %0
func.func @gather_all(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@reversed, [{}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Without a sharding, a tensor has the mesh that is asked for.
// CHECK-LABEL: func.func @unsharded
// CHECK-NEXT: %0 = sdy.all_slice [{"x"}, {}] %arg0 out_sharding=<@reversed, [{"x"}, {}]>
// CHECK-NEXT: return %0
func.func @unsharded(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@reversed, [{"x"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// With a sharding that splits nothing it is on its own mesh, and has to be brought to the other.
// CHECK-LABEL: func.func @replicated_elsewhere
// CHECK-NEXT: %0 = sdy.all_slice [{"x"}, {}] %arg0 out_sharding=<@mesh, [{"x"}, {}]>
// CHECK-NEXT: %1 = sdy.collective_permute %0 out_sharding=<@reversed, [{"x"}, {}]>
// CHECK-NEXT: return %1
func.func @replicated_elsewhere(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@reversed, [{"x"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// No sequence of collectives leads to a mesh with other axes: the reshard stays.
// CHECK-LABEL: func.func @other_axes
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@other, [{"a"}, {}]>
// CHECK-NEXT: return %0
func.func @other_axes(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@other, [{"a"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Unless the target is not split.
// CHECK-LABEL: func.func @gather_to_other_axes
// CHECK-NEXT: %0 = sdy.all_gather [{"x"}, {"y"}] %arg0 out_sharding=<@mesh, [{}, {}]>
// CHECK-NEXT: return %0
func.func @gather_to_other_axes(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@other, [{}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// What is on one device has no dimensions to split: the reshard stays, too.
// CHECK-LABEL: func.func @from_one_device
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}]>
// CHECK-NEXT: return %0
func.func @from_one_device(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@one_device, []>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// A mesh without axes or devices is like any other, if nothing is split.
// CHECK-LABEL: func.func @to_empty
// CHECK-NEXT: %0 = sdy.all_gather [{"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {}]>
// CHECK-NEXT: return %0
func.func @to_empty(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@empty, [{}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// The mesh may stand in the sharding.
// CHECK-LABEL: func.func @inlined
// CHECK-NEXT: %0 = sdy.all_gather [{"a"}] %arg0 out_sharding=<mesh<["a"=2]>, [{}]>
func.func @inlined(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["a"=2]>, [{"a"}]>}) -> tensor<8xf32> {
  %0 = sdy.reshard %a <mesh<["a"=2]>, [{}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}
