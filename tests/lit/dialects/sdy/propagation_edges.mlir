// RUN: sdy-opt %s | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// The propagation steps of an operation.
// CHECK-LABEL: func.func @steps
func.func @steps(%arg: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: sdy.propagation_edges = #sdy.propagation_edges<[
  // CHECK-SAME: {step-1 = [{"x" = operand-0 -> [operand-1, result-0]}, {"y":(1)2 = result-0 -> [operand-0]}]},
  // CHECK-SAME: {step-5 = [{"y" = result-0 -> [operand-1]}]}]>
  %0 = stablehlo.add %arg, %arg {
    sdy.propagation_edges = #sdy.propagation_edges<[{step-1 = [{"x" = operand-0 -> [operand-1, result-0]}, {"y":(1)2 = result-0 -> [operand-0]}]}, {step-5 = [{"y" = result-0 -> [operand-1]}]}]>,
    sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// An operation with a body has a list for its results and one for its arguments.
// CHECK-LABEL: func.func @lists
func.func @lists(%arg: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: sdy.block_arg_propagation_edges = [], sdy.result_propagation_edges = [#sdy.propagation_edges<[{step-0 = [{"x" = operand-0 -> [result-0]}]}]>]
  %0 = stablehlo.negate %arg {
    sdy.block_arg_propagation_edges = [],
    sdy.result_propagation_edges = [#sdy.propagation_edges<[{step-0 = [{"x" = operand-0 -> [result-0]}]}]>]} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
