// RUN: sdy-opt %s -split-input-file -sdy-sink-data-flow-edges | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// The owner of an edge gets its sharding and replaces it.
// CHECK-LABEL: func.func @barrier
// CHECK: %0 = stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} %arg0
func.func @barrier(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.optimization_barrier %a : tensor<8xf32>
  %1 = sdy.data_flow_edge %0 sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// If one edge has a sharding, results without one are open.
// CHECK-LABEL: func.func @others
// CHECK: %0:2 = stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{?}, {?}]>]>} %arg0, %arg1
func.func @others(%a: tensor<8xf32>, %b: tensor<4x4xf32>) -> (tensor<8xf32>, tensor<4x4xf32>) {
  %0:2 = stablehlo.optimization_barrier %a, %b : tensor<8xf32>, tensor<4x4xf32>
  %1 = sdy.data_flow_edge %0#0 sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  %2 = sdy.data_flow_edge %0#1 : tensor<4x4xf32>
  return %1, %2 : tensor<8xf32>, tensor<4x4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// A manual computation keeps its manual axes before the free ones.
// CHECK-LABEL: func.func @manual
// CHECK: %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x", ?}, {"y", ?}]>] out_shardings=[<@mesh, [{"x", ?}, {"y", ?}]>] manual_axes={"x"} (%arg1: tensor<4x4xf32>) {
// CHECK: sdy.return %arg1
func.func @manual(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x", ?}, {?}]>] out_shardings=[<@mesh, [{"x", ?}, {?}]>] manual_axes={"x"} (%b: tensor<4x4xf32>) {
    %1 = sdy.data_flow_edge %b sharding=<@mesh, [{?}, {"y", ?}]> : tensor<4x4xf32>
    sdy.return %1 : tensor<4x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = sdy.data_flow_edge %0 sharding=<@mesh, [{"x", ?}, {"y", ?}]> : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
