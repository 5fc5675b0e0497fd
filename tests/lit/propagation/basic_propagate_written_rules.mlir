// RUN: sdy-opt %s -split-input-file -sdy-basic-propagate | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Nothing gets over a barrier that allows no direction, but by a rule that is written on it: it says that
// the dimensions change places.
// CHECK-LABEL: func.func @barrier
// CHECK: %0 = sdy.propagation_barrier %arg0 allowed_direction=NONE {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"x", ?}]>]>}
func.func @barrier(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.propagation_barrier %a allowed_direction=NONE {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([j, i]) {i=8, j=8}>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Over a data-flow edge shardings go as always, and by the rule only if that changes nothing any more.
// CHECK-LABEL: func.func @edge
// CHECK: %1 = sdy.data_flow_edge %0 sharding=<@mesh, [{"x", ?}, {?}]>
func.func @edge(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.optimization_barrier %a : tensor<8x8xf32>
  %1 = sdy.data_flow_edge %0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([j, i]) {i=8, j=8}>} : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
