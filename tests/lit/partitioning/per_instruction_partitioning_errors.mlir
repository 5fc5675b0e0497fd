// RUN: sdy-opt %s -split-input-file -sdy-per-instruction-partitioning -verify-diagnostics

// A manual computation has one mesh.
sdy.mesh @a = <["x"=2]>
sdy.mesh @b = <["y"=2]>
func.func @meshes(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}]>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@b, [{"y"}]>}) -> tensor<8xf32> {
  // expected-error @+1 {{'stablehlo.add' op cannot be partitioned by itself: its operands and results have several meshes}}
  %0 = stablehlo.add %a, %b : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Called functions are inlined, so they must not be recursive.
sdy.mesh @mesh = <["x"=2]>
func.func @recursive(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // expected-error @+1 {{'func.call' op calls 'recursive', which is recursive}}
  %0 = call @recursive(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
