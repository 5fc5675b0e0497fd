// RUN: sdy-opt %s -sdy-lift-inlined-meshes -split-input-file | filecheck %s

// An inlined mesh gets one symbol for all shardings that contain it.
// CHECK:      sdy.mesh @mesh = <["x"=2]>
// CHECK-NEXT: func.func @one_mesh(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
func.func @one_mesh(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}]>}) -> tensor<4xf32> {
  // CHECK-NEXT: stablehlo.negate {{.*}}<[<@mesh, [{?}]>]>
  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<mesh<["x"=2]>, [{?}]>]>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// The symbol of an equal mesh is used.
// CHECK:      sdy.mesh @named = <["x"=2]>
// CHECK-NEXT: func.func @known_mesh(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@named, [{"x"}]>})
sdy.mesh @named = <["x"=2]>
func.func @known_mesh(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}]>}) {
  return
}

// -----

// The first of equal meshes is kept. Another device order makes another mesh.
// CHECK:      sdy.mesh @first = <["x"=2]>
// CHECK-NEXT: sdy.mesh @reversed = <["x"=2], device_ids=[1, 0]>
// CHECK-NEXT: func.func @equal_meshes
// CHECK-SAME:   %arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@first, [{"x"}]>}
// CHECK-SAME:   %arg1: tensor<4xf32> {sdy.sharding = #sdy.sharding<@reversed, [{"x"}]>}
sdy.mesh @first = <["x"=2]>
sdy.mesh @second = <["x"=2]>
sdy.mesh @reversed = <["x"=2], device_ids=[1, 0]>
func.func @equal_meshes(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@second, [{"x"}]>},
                        %y: tensor<4xf32> {sdy.sharding = #sdy.sharding<@reversed, [{"x"}]>}) {
  return
}

// -----

// Names of maximal and empty meshes. New meshes are inserted after existing ones.
// CHECK:      sdy.mesh @named
// CHECK-NEXT: sdy.mesh @maximal_mesh_3 = <[], device_ids=[3]>
// CHECK-NEXT: sdy.mesh @empty_mesh = <[]>
// CHECK-NEXT: func.func @special_meshes
sdy.mesh @named = <["x"=2]>
func.func @special_meshes(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: stablehlo.negate {{.*}}<[<@maximal_mesh_3, []>]>
  // CHECK-NEXT: stablehlo.negate {{.*}}<[<@empty_mesh, [{}]>]>
  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<mesh<[], device_ids=[3]>, []>]>} : tensor<4xf32>
  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<mesh<[]>, [{}]>]>} : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A number is appended to a taken name; the name of an erased mesh is free.
// CHECK:      sdy.mesh @mesh = <["x"=2]>
// CHECK-NEXT: sdy.mesh @mesh_1 = <["y"=2]>
// CHECK-NEXT: sdy.mesh @mesh_0 = <["z"=2]>
// CHECK-NEXT: sdy.mesh @mesh_2 = <["w"=2]>
// CHECK-NEXT: func.func @numbers
sdy.mesh @mesh = <["x"=2]>
sdy.mesh @mesh_0 = <["x"=2]>
sdy.mesh @mesh_1 = <["y"=2]>
func.func @numbers(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<mesh<["z"=2]>, [{}]>})
    -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<mesh<["w"=2]>, [{}]>}) {
  return %x : tensor<4xf32>
}

// -----

// Names of all symbols are taken. One counter serves all names.
// CHECK:      sdy.mesh @mesh_0 = <["x"=2]>
// CHECK-NEXT: sdy.mesh @empty_mesh_1 = <[]>
// CHECK-NEXT: func.func @mesh
func.func @mesh(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{}]>})
    -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<mesh<[]>, [{}]>}) {
  return %x : tensor<4xf32>
}
func.func @empty_mesh() {
  return
}

// -----

// Every mesh symbol gets a `stablehlo.mesh`; an existing one is kept.
// CHECK: sdy.mesh @two = <["x"=2, "y"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}, {name = "y", size = 4 : i64}]}}
// CHECK: sdy.mesh @reversed = <["x"=2], device_ids=[1, 0]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}], device_ids = dense<[1, 0]> : tensor<2xi64>}}
// CHECK: sdy.mesh @one_device = <[], device_ids=[3]> {stablehlo.mesh = {axes = [], device_ids = dense<3> : tensor<1xi64>}}
// CHECK: sdy.mesh @empty = <[]> {stablehlo.mesh = {axes = []}}
// CHECK: sdy.mesh @told = <["z"=2]> {stablehlo.mesh = "as it was"}
sdy.mesh @two = <["x"=2, "y"=4]>
sdy.mesh @reversed = <["x"=2], device_ids=[1, 0]>
sdy.mesh @one_device = <[], device_ids=[3]>
sdy.mesh @empty = <[]>
sdy.mesh @told = <["z"=2]> {stablehlo.mesh = "as it was"}

// -----

// Meshes of replica groups are distinct from the meshes of shardings, and their device order is dropped.
// CHECK:      sdy.mesh @named = <["x"=2]>
// CHECK-NEXT: sdy.mesh @mesh = <["x"=2]>
// CHECK-NEXT: sdy.mesh @mesh_0 = <["y"=2]>
// CHECK-NEXT: func.func @replica_groups
sdy.mesh @named = <["x"=2]>
sdy.mesh @also_named = <["x"=2]>
func.func @replica_groups(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<8xf32>, tensor<4xf32>) {
  // CHECK: "stablehlo.all_reduce"{{.*}}mesh = @mesh,
  %0 = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %3 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }) {
    replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "x", size = 2>], device_ids = dense<[1, 0]> : tensor<2xi64>>, axes = [#stablehlo.axis_ref<name = "x">]>
  } : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.all_gather"{{.*}}mesh = @mesh_0,
  %1 = "stablehlo.all_gather"(%x) {
    all_gather_dim = 0 : i64,
    replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "y", size = 2>]>, axes = [#stablehlo.axis_ref<name = "y">]>
  } : (tensor<4xf32>) -> tensor<8xf32>
  // CHECK: "stablehlo.collective_broadcast"{{.*}}mesh = @named
  %2 = "stablehlo.collective_broadcast"(%x) {
    replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @also_named, axes = [#stablehlo.axis_ref<name = "x">]>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<8xf32>, tensor<4xf32>
}
