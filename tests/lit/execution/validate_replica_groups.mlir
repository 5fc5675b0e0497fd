// REQUIRES: jax
// RUN: sdy-opt %s --validate -split-input-file -verify-diagnostics -sdy-insert-explicit-reshards=enable-full-version=true -sdy-reshard-to-collectives -sdy-convert-global-to-local=enable-rgv3=true
// RUN: sdy-opt %s --validate --validate-mode=manual -split-input-file -verify-diagnostics -sdy-insert-explicit-reshards=enable-full-version=true -sdy-reshard-to-collectives -sdy-convert-global-to-local=enable-rgv3=true
// RUN: sdy-opt %s --validate -split-input-file -verify-diagnostics -sdy-insert-explicit-reshards=enable-full-version=true -sdy-reshard-to-collectives -sdy-convert-global-to-local=enable-rgv3=true -sdy-inline-meshes
// RUN: sdy-opt %s --validate -split-input-file -verify-diagnostics --sdy-version=jaxlib-0.10.2 -sdy-insert-explicit-reshards=enable-full-version=true -sdy-reshard-to-collectives -sdy-convert-global-to-local=enable-rgv3=true

// Collectives may have replica groups given by axes of a mesh, which is referenced or inlined. The devices of a
// group are computed before the mesh is erased.
sdy.mesh @mesh = <["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>
// expected-remark @+1 {{validated: @main: 2 results are equal on 4 devices}}
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, tensor<4xf32>) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : tensor<8x4xf32>
  %1 = stablehlo.reduce(%0 init: %low) applies stablehlo.maximum across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0, %1 : tensor<8x4xf32>, tensor<4xf32>
}

// -----

// Sub-axes.
sdy.mesh @mesh = <["x"=4]>
// expected-remark @+1 {{validated: @main: 1 result is equal on 4 devices}}
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}, {"x":(2)2}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x":(2)2}]>}) {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x":(1)2}, {"x":(2)2}]>]>} : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
