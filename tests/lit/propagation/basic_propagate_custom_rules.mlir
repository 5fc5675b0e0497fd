// RUN: sdy-opt %s -split-input-file -sdy-basic-propagate | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// A barrier with allowed direction NONE blocks propagation, except by its custom rule, which transposes the
// dimensions.
// CHECK-LABEL: func.func @barrier
// CHECK: %0 = sdy.propagation_barrier %arg0 allowed_direction=NONE {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"x", ?}]>]>}
func.func @barrier(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.propagation_barrier %a allowed_direction=NONE {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([j, i]) {i=8, j=8}>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Shardings propagate along a data-flow edge as usual, and by its custom rule only when nothing else changes.
// CHECK-LABEL: func.func @edge
// CHECK: %1 = sdy.data_flow_edge %0 sharding=<@mesh, [{"x", ?}, {?}]>
func.func @edge(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.optimization_barrier %a : tensor<8x8xf32>
  %1 = sdy.data_flow_edge %0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([j, i]) {i=8, j=8}>} : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
