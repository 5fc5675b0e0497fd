// RUN: sdy-opt %s -sdy-insert-explicit-reshards=enable-full-version=true | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @shuffled = <["x"=2, "y"=2], device_ids=[3, 1, 2, 0]>
sdy.mesh @other = <["x"=2]>
sdy.mesh @one_device = <[], device_ids=[1]>

// Two of three tensors are sharded over the mesh with the other device order, which is used for all.
// CHECK-LABEL: func.func @most
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@shuffled, [{"x"}]>
// CHECK-NEXT: %1 = stablehlo.add %0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@shuffled, [{"x"}]>]>}
// CHECK-NEXT: return %1
func.func @most(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@shuffled, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@shuffled, [{"x"}]>}) {
  %0 = stablehlo.add %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@shuffled, [{"x"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Replicated tensors do not count.
// CHECK-LABEL: func.func @replicated
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@shuffled, [{"x"}]>
// CHECK-NEXT: %1 = sdy.reshard %arg1 <@shuffled, [{"x"}]>
// CHECK-NEXT: %2 = stablehlo.add %0, %1 {sdy.sharding = #sdy.sharding_per_value<[<@shuffled, [{"x"}]>]>}
// CHECK-NEXT: return %2
func.func @replicated(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@shuffled, [{"x"}]>}) {
  %0 = stablehlo.add %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@shuffled, [{"x"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Meshes with different axes are incompatible.
// CHECK-LABEL: func.func @other_axes
// CHECK-NEXT: %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@other, [{"x"}]>]>}
// CHECK-NEXT: return %0
func.func @other_axes(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@other, [{"x"}]>}) {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@other, [{"x"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A mesh with another device order between them does not make them compatible.
// CHECK-LABEL: func.func @other_axes_after_another_order
// CHECK-NEXT: %0 = stablehlo.add %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@other, [{"x"}]>]>}
// CHECK-NEXT: return %0
func.func @other_axes_after_another_order(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@shuffled, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@other, [{"x"}]>}) {
  %0 = stablehlo.add %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@other, [{"x"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
