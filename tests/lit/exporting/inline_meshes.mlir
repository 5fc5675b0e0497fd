// RUN: sdy-opt %s -sdy-inline-meshes | filecheck %s

// Mesh symbols are erased.
// CHECK-NOT: sdy.mesh
sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @reversed = <["x"=2], device_ids=[1, 0]>
sdy.mesh @one_device = <[], device_ids=[3]>
sdy.mesh @empty = <[]>

// Every sharding has the mesh in place of its name.
// CHECK-LABEL: func.func @names
// CHECK-SAME:    %arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2, "y"=2]>, [{"x"}]>}
// CHECK-SAME:    -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2], device_ids=[1, 0]>, [{"x", ?}]>})
func.func @names(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@reversed, [{"x", ?}]>}) {
  // CHECK-NEXT: stablehlo.negate {{.*}}<[<mesh<[], device_ids=[3]>, []>]>
  // CHECK-NEXT: stablehlo.negate {{.*}}<[<mesh<[]>, [{?}]>]>
  // CHECK-NEXT: sdy.sharding_constraint %{{.*}} <mesh<["x"=2, "y"=2]>, [{}], replicated={"x"}>
  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@one_device, []>]>} : tensor<4xf32>
  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@empty, [{?}]>]>} : tensor<4xf32>
  %2 = sdy.sharding_constraint %1 <@mesh, [{}], replicated={"x"}> : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// A mesh that is inlined already is kept.
// CHECK-LABEL: func.func @inlined
// CHECK-SAME:    %arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<mesh<["z"=4]>, [{"z"}]>}
func.func @inlined(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<mesh<["z"=4]>, [{"z"}]>}) {
  return
}
