// RUN: sdy-opt %s -sdy-inline-meshes --sdy-version=jaxlib-0.10.2 --verify-diagnostics
// RUN: sdy-opt %s -sdy-inline-meshes | filecheck %s

sdy.mesh @mesh = <["x"=2]>

// In jaxlib 0.10.2, replica groups refer to meshes by name only; since jaxlib 0.11.2, their meshes are inlined too.
// CHECK-LABEL: func.func @replica_groups
// CHECK: mesh = #stablehlo.mesh<axes=[<name = "x", size = 2>]>
func.func @replica_groups(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'stablehlo.all_reduce' op replica_groups: mesh symbol 'mesh' not found}}
  %0 = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {
    replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
