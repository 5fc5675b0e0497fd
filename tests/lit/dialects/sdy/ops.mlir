// RUN: sdy-opt %s | filecheck %s
// RUN: sdy-opt %s -mlir-print-op-generic | sdy-opt - | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Sharding constraints and reshards.
// CHECK-LABEL: func.func @shardings
// CHECK-SAME:    (%[[ARG:.*]]: tensor<8x8xf32>)
func.func @shardings(%arg: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[WANTED:.*]] = sdy.sharding_constraint %[[ARG]] <@mesh, [{"x"}, {?}]> {test.note} : tensor<8x8xf32>
  %0 = sdy.sharding_constraint %arg <@mesh, [{"x"}, {?}]> {test.note} : tensor<8x8xf32>
  // CHECK-NEXT: %[[MOVED:.*]] = sdy.reshard %[[WANTED]] <@mesh, [{}, {"y"}]> : tensor<8x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {"y"}]> : tensor<8x8xf32>
  // CHECK-NEXT: sdy.sharding_group %[[MOVED]] group_id=21 : tensor<8x8xf32>
  sdy.sharding_group %1 group_id = 21 : tensor<8x8xf32>
  // CHECK-NEXT: return %[[MOVED]]
  return %1 : tensor<8x8xf32>
}

// Barriers allow propagation in one direction, or none.
// CHECK-LABEL: func.func @barriers
func.func @barriers(%arg: tensor<8xf32>) {
  // CHECK: sdy.propagation_barrier %arg0 allowed_direction=NONE : tensor<8xf32>
  %0 = sdy.propagation_barrier %arg allowed_direction=NONE : tensor<8xf32>
  // CHECK: sdy.propagation_barrier %arg0 allowed_direction=FORWARD : tensor<8xf32>
  %1 = sdy.propagation_barrier %arg allowed_direction="FORWARD" : tensor<8xf32>
  // CHECK: sdy.propagation_barrier %arg0 allowed_direction=BACKWARD {test.note = 1 : i32} : tensor<8xf32>
  %2 = sdy.propagation_barrier %arg allowed_direction=BACKWARD {test.note = 1 : i32} : tensor<8xf32>
  return
}

// A constant that is not merged with others.
// CHECK-LABEL: func.func @constants
func.func @constants() -> (tensor<2xf32>, tensor<2xf32>) {
  // CHECK: %[[FIRST:.*]] = sdy.constant dense<[0.000000e+00, 1.000000e+00]> : tensor<2xf32>
  %0 = sdy.constant dense<[0.0, 1.0]> : tensor<2xf32>
  // CHECK: %[[SECOND:.*]] = sdy.constant {test.note} dense<2.000000e+00> : tensor<2xf32>
  %1 = sdy.constant {test.note} dense<2.0> : tensor<2xf32>
  // CHECK: return %[[FIRST]], %[[SECOND]]
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// A data-flow edge takes its owner, with or without a sharding.
// CHECK-LABEL: func.func @edges
// CHECK-SAME:    (%[[ARG:.*]]: tensor<8xf32>, %{{.*}}: tensor<8xf32>)
func.func @edges(%arg: tensor<8xf32>, %other: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: %[[VALUES:.*]]:2 = stablehlo.optimization_barrier
  %0:2 = stablehlo.optimization_barrier %other, %other : tensor<8xf32>, tensor<8xf32>
  // CHECK-NEXT: sdy.data_flow_edge %[[VALUES]]#0 sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  %1 = sdy.data_flow_edge %0#0 sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  // CHECK-NEXT: sdy.data_flow_edge %[[VALUES]]#1 : tensor<8xf32>
  %2 = sdy.data_flow_edge %0#1 : tensor<8xf32>
  // CHECK-NEXT: sdy.func_data_flow_edge %[[ARG]] : tensor<8xf32>
  %3 = sdy.func_data_flow_edge %arg : tensor<8xf32>
  // CHECK-NEXT: %[[CALL:.*]]:2 = call @edges
  %4:2 = call @edges(%1, %2) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  // CHECK-NEXT: sdy.func_data_flow_edge %[[CALL]]#1 : tensor<8xf32>
  %5 = sdy.func_data_flow_edge %4#1 : tensor<8xf32>
  return %3, %5 : tensor<8xf32>, tensor<8xf32>
}
