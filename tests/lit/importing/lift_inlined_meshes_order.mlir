// Since jaxlib 0.12.0.1, the meshes of replica groups get names in the order of the program.
// RUN: sdy-opt %s -sdy-lift-inlined-meshes | filecheck %s
// RUN: sdy-opt %s -sdy-lift-inlined-meshes --sdy-version=jaxlib-0.11.2 | filecheck %s --check-prefix=BEFORE

// The mesh of the sharding is first in any case. Before, all-gathers were before all-reduces.
// CHECK:      sdy.mesh @mesh = <["s"=2]>
// CHECK-NEXT: sdy.mesh @mesh_0 = <["inner"=2]>
// CHECK-NEXT: sdy.mesh @mesh_1 = <["outer"=2]>
// BEFORE:      sdy.mesh @mesh = <["s"=2]>
// BEFORE-NEXT: sdy.mesh @mesh_0 = <["outer"=2]>
// BEFORE-NEXT: sdy.mesh @mesh_1 = <["inner"=2]>
func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<mesh<["s"=2]>, [{"s"}]>}, %p: tensor<i1>) {
  %0 = "stablehlo.if"(%p) ({
    %1 = "stablehlo.all_reduce"(%a) ({
    ^bb0(%b: tensor<f32>, %c: tensor<f32>):
      %2 = stablehlo.add %b, %c : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) {
      replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "inner", size = 2>]>, axes = [#stablehlo.axis_ref<name = "inner">]>
    } : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }, {
    stablehlo.return %a : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  %3 = "stablehlo.all_gather"(%0) {
    all_gather_dim = 0 : i64,
    replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "outer", size = 2>]>, axes = [#stablehlo.axis_ref<name = "outer">]>
  } : (tensor<4xf32>) -> tensor<8xf32>
  return
}
