// RUN: sdy-opt %s -sdy-reshard-to-collectives | filecheck %s

// Meshes with the same axes and another device order, and meshes with other axes.

sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @reversed = <["x"=2, "y"=2], device_ids=[3, 2, 1, 0]>
sdy.mesh @other = <["a"=4]>
sdy.mesh @one_device = <[], device_ids=[0]>
sdy.mesh @empty = <[]>

// A change of the device order is a collective-permute.
// CHECK-LABEL: func.func @other_order
// CHECK-NEXT: %0 = sdy.collective_permute %arg0 out_sharding=<@reversed, [{"x"}, {"y"}]>
// CHECK-NEXT: return %0
func.func @other_order(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@reversed, [{"x"}, {"y"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// One collective-permute changes axes and device order.
// CHECK-LABEL: func.func @permute_once
// CHECK-NEXT: %0 = sdy.collective_permute %arg0 out_sharding=<@reversed, [{"y"}, {}]>
// CHECK-NEXT: return %0
func.func @permute_once(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@reversed, [{"y"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Collectives before the collective-permute are on the mesh of the source.
// CHECK-LABEL: func.func @slice_before
// CHECK-NEXT: %0 = sdy.all_slice [{}, {"y"}] %arg0 out_sharding=<@mesh, [{"x"}, {"y"}]>
// CHECK-NEXT: %1 = sdy.collective_permute %0 out_sharding=<@reversed, [{"x"}, {"y"}]>
// CHECK-NEXT: return %1
func.func @slice_before(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@reversed, [{"x"}, {"y"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Collectives after it are on the mesh of the target.
// CHECK-LABEL: func.func @gather_after
// CHECK-NEXT: %0 = sdy.collective_permute %arg0 out_sharding=<@reversed, [{"x"}, {"y"}]>
// CHECK-NEXT: %1 = sdy.all_gather [{}, {"y"}] %0 out_sharding=<@reversed, [{"x"}, {}]>
// CHECK-NEXT: return %1
func.func @gather_after(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@reversed, [{"x"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// A replicated target is reached on the mesh of the source.
// CHECK-LABEL: func.func @gather_all
// CHECK-NEXT: %0 = sdy.all_gather [{"x"}, {"y"}] %arg0 out_sharding=<@mesh, [{}, {}]>
// CHECK-NEXT: return %0
func.func @gather_all(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@reversed, [{}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// A tensor without a sharding is on the mesh of the target.
// CHECK-LABEL: func.func @unsharded
// CHECK-NEXT: %0 = sdy.all_slice [{"x"}, {}] %arg0 out_sharding=<@reversed, [{"x"}, {}]>
// CHECK-NEXT: return %0
func.func @unsharded(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@reversed, [{"x"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// A replicated tensor is on its own mesh and permuted to the other.
// CHECK-LABEL: func.func @replicated_elsewhere
// CHECK-NEXT: %0 = sdy.all_slice [{"x"}, {}] %arg0 out_sharding=<@mesh, [{"x"}, {}]>
// CHECK-NEXT: %1 = sdy.collective_permute %0 out_sharding=<@reversed, [{"x"}, {}]>
// CHECK-NEXT: return %1
func.func @replicated_elsewhere(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@reversed, [{"x"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// A reshard to a mesh with other axes is kept.
// CHECK-LABEL: func.func @other_axes
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@other, [{"a"}, {}]>
// CHECK-NEXT: return %0
func.func @other_axes(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@other, [{"a"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Unless the target is replicated.
// CHECK-LABEL: func.func @gather_to_other_axes
// CHECK-NEXT: %0 = sdy.all_gather [{"x"}, {"y"}] %arg0 out_sharding=<@mesh, [{}, {}]>
// CHECK-NEXT: return %0
func.func @gather_to_other_axes(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@other, [{}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// A reshard from a maximal mesh is kept too.
// CHECK-LABEL: func.func @from_one_device
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}]>
// CHECK-NEXT: return %0
func.func @from_one_device(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@one_device, []>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// An empty mesh is compatible if nothing is sharded.
// CHECK-LABEL: func.func @to_empty
// CHECK-NEXT: %0 = sdy.all_gather [{"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {}]>
// CHECK-NEXT: return %0
func.func @to_empty(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@empty, [{}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// An inlined mesh.
// CHECK-LABEL: func.func @inlined
// CHECK-NEXT: %0 = sdy.all_gather [{"a"}] %arg0 out_sharding=<mesh<["a"=2]>, [{}]>
func.func @inlined(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["a"=2]>, [{"a"}]>}) -> tensor<8xf32> {
  %0 = sdy.reshard %a <mesh<["a"=2]>, [{}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}
