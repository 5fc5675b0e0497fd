// RUN: sdy-opt %s -split-input-file -verify-diagnostics -sdy-basic-propagate

func.func @dynamic(%a: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{Shardy propagation only supports ranked tensors with a static shape. type: 'tensor<?xf32>'}}
  %0 = stablehlo.negate %a : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @tuple(%a: tensor<8xf32>) -> tuple<tensor<8xf32>> {
  // expected-error @+1 {{Shardy propagation doesn't support tuples: 'tuple<tensor<8xf32>>'}}
  %0 = stablehlo.tuple %a : tuple<tensor<8xf32>>
  return %0 : tuple<tensor<8xf32>>
}

// -----

// A data-flow edge takes a value that shardings flow into: a result of a loop, or an argument of a computation.
func.func @edge_of_a_function_argument(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected input of sdy.data_flow_edge to be the owner of a data-flow edge}}
  %0 = sdy.data_flow_edge %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// The owner of the edges of a loop is its result, not the argument of its regions.
func.func @edge_of_a_loop_argument(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.while(%i = %a) : tensor<8xf32>
  cond {
    %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    // expected-error @+1 {{expected input of sdy.data_flow_edge to be the owner of a data-flow edge}}
    %e = sdy.data_flow_edge %i : tensor<8xf32>
    stablehlo.return %e : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}
