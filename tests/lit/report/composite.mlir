// A composite is what its decomposition computes: shardings propagate through it, and its FLOPs and memory count.
// So do the FLOPs of a ragged dot, which each device computes whole.
// RUN: sdy-opt %s --report | filecheck %s
// CHECK: communication: 0 B on the wire per device, 0 collectives
// CHECK: memory per device: peak 784.0 KiB
// CHECK: compute per device: 6.29 MFLOP in 2 products

// The bare passes do not know it, and each device computes it whole.
// RUN: sdy-opt %s -sdy-propagation-pipeline=enable-insert-explicit-collectives=true --report 2>&1 | filecheck %s --check-prefix=BARE
// BARE: compute per device: 8.39 MFLOP in 2 products

sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<128x256xf32>, %r: tensor<64x128xf32>, %e: tensor<4x128x256xf32>, %g: tensor<4xi32>) -> (tensor<64x256xf32>, tensor<64x256xf32>) {
  %0 = stablehlo.composite "my.dot" %a, %w {decomposition = @impl} : (tensor<64x128xf32>, tensor<128x256xf32>) -> tensor<64x256xf32>
  // 2 · 64 · 128 · 256 FLOPs: each row is in one of the four groups.
  %1 = "chlo.ragged_dot"(%r, %e, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<64x128xf32>, tensor<4x128x256xf32>, tensor<4xi32>) -> tensor<64x256xf32>
  return %0, %1 : tensor<64x256xf32>, tensor<64x256xf32>
}
func.func private @impl(%a: tensor<64x128xf32>, %w: tensor<128x256xf32>) -> tensor<64x256xf32> {
  %0 = stablehlo.dot %a, %w : (tensor<64x128xf32>, tensor<128x256xf32>) -> tensor<64x256xf32>
  return %0 : tensor<64x256xf32>
}
