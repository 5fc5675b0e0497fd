// Since jaxlib 0.12.0.1, an option names meshes of a single device by what they are.
// RUN: sdy-opt %s -sdy-lift-inlined-meshes=use-single-device-mesh-names=true | filecheck %s
// RUN: sdy-opt %s -sdy-lift-inlined-meshes | filecheck %s --check-prefix=MAXIMAL
// RUN: sdy-opt %s -sdy-lift-inlined-meshes --sdy-version=jaxlib-0.10.2 | filecheck %s --check-prefix=MAXIMAL
// RUN: not sdy-opt %s -sdy-lift-inlined-meshes=use-single-device-mesh-names=true --sdy-version=jaxlib-0.11.2 2>&1 | filecheck %s --check-prefix=UNKNOWN

// UNKNOWN: no such option use-single-device-mesh-names

// A mesh that has a name already keeps it; a name that is taken gets a number.
// CHECK:      sdy.mesh @single_device_5 = <["x"=2]>
// CHECK-NEXT: sdy.mesh @three = <[], device_ids=[3]>
// CHECK-NEXT: sdy.mesh @single_device_0 = <[], device_ids=[0]>
// CHECK-NEXT: sdy.mesh @single_device_5_0 = <[], device_ids=[5]>
// MAXIMAL:      sdy.mesh @three = <[], device_ids=[3]>
// MAXIMAL-NEXT: sdy.mesh @maximal_mesh_0 = <[], device_ids=[0]>
// MAXIMAL-NEXT: sdy.mesh @maximal_mesh_5 = <[], device_ids=[5]>
sdy.mesh @single_device_5 = <["x"=2]>
sdy.mesh @three = <[], device_ids=[3]>

// CHECK:   func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@single_device_0, []>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@single_device_5_0, []>}, %arg2: tensor<8xf32> {sdy.sharding = #sdy.sharding<@three, []>})
// MAXIMAL: func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@maximal_mesh_0, []>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@maximal_mesh_5, []>}, %arg2: tensor<8xf32> {sdy.sharding = #sdy.sharding<@three, []>})
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<[], device_ids=[0]>, []>},
                %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<[], device_ids=[5]>, []>},
                %c: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<[], device_ids=[3]>, []>}) {
  return
}
