// Since jaxlib 0.12.0.1, debug info has one entry per data-flow edge, and only known origins.
// RUN: sdy-opt %s -sdy-add-data-flow-edges -sdy-basic-propagate="debug-sharding-origins=true debug-propagation-edge-sharding=true" -sdy-sink-data-flow-edges="sink-debug-sharding-origins=true sink-debug-propagation-edge-sharding=true" | filecheck %s
// RUN: sdy-opt %s -sdy-add-data-flow-edges -sdy-basic-propagate="debug-sharding-origins=true debug-propagation-edge-sharding=true" -sdy-sink-data-flow-edges="sink-debug-sharding-origins=true sink-debug-propagation-edge-sharding=true" --sdy-version=jaxlib-0.11.2 | filecheck %s --check-prefix=BEFORE

sdy.mesh @mesh = <["x"=2]>

// Only the second edge has debug info. The entry of the first edge tells which edge the other entry is for.
// CHECK-LABEL: func.func @main(
// CHECK:         stablehlo.optimization_barrier {
// CHECK-SAME:      sdy.result_propagation_edges = [#sdy.propagation_edges<[]>, #sdy.propagation_edges<[{step-0 = [{"x" = operand-0 -> [result-0]}]}]>],
// CHECK-SAME:      sdy.result_sharding_origins = [{}, {x = "input: 1"}]
// BEFORE-LABEL: func.func @main(
// BEFORE:         sdy.result_propagation_edges = [#sdy.propagation_edges<[{step-0 = [{"x" = operand-0 -> [result-0]}]}]>],
// BEFORE-SAME:    sdy.result_sharding_origins = [{x = "input: 1"}]
func.func @main(%a: tensor<4xf32>, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0:2 = stablehlo.optimization_barrier %a, %b : tensor<4xf32>, tensor<8xf32>
  return
}

// The sharding of an operation is no annotation, so its axes have no origin.
// CHECK-LABEL:  func.func @unknown_origin(
// CHECK-NOT:      sdy.sharding_origins
// BEFORE-LABEL: func.func @unknown_origin(
// BEFORE:         stablehlo.negate %0 {{.*}}sdy.sharding_origins = [{x = ": 0"}]
func.func @unknown_origin(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> tensor<8xf32> {
  %0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  %1 = stablehlo.negate %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}
