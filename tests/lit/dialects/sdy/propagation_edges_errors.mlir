// RUN: sdy-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{propagation edges have negative step index: -1}}
module attributes {test.edges = #sdy.propagation_edges<[{step--1 = [{"x" = operand-0 -> [result-0]}]}]>} {}

// -----

// expected-error @+1 {{propagation edges have duplicate step index: 3}}
module attributes {test.edges = #sdy.propagation_edges<[{step-3 = [{"x" = operand-0 -> [result-0]}]}, {step-3 = [{"y" = operand-0 -> [result-0]}]}]>} {}

// -----

// expected-error @+1 {{propagation edges have a source that is the same as a target}}
module attributes {test.edges = #sdy.propagation_edges<[{step-0 = [{"x" = operand-0 -> [operand-0]}]}]>} {}

// -----

// expected-error @+1 {{propagation edges have duplicate targets for step index: 0 and axis: x}}
module attributes {test.edges = #sdy.propagation_edges<[{step-0 = [{"x" = operand-0 -> [result-0, result-0]}]}]>} {}

// -----

// expected-error @+5 {{expected ::mlir::sdy::EdgeNodeType to be one of: operand, result}}
// expected-error @+4 {{failed to parse Sdy_EdgeValueRef parameter 'type' which is to be a `::mlir::sdy::EdgeNodeType`}}
// expected-error @+3 {{failed to parse Sdy_AxisToPropagationDetails parameter 'source' which is to be a `::mlir::sdy::EdgeValueRefAttr`}}
// expected-error @+2 {{failed to parse Sdy_PropagationOneStep parameter 'axis_entries' which is to be a `::llvm::ArrayRef<AxisToPropagationDetailsAttr>`}}
// expected-error @+1 {{failed to parse Sdy_PropagationEdges parameter 'value' which is to be a `::llvm::ArrayRef<PropagationOneStepAttr>`}}
module attributes {test.edges = #sdy.propagation_edges<[{step-0 = [{"x" = argument-0 -> [result-0]}]}]>} {}

// -----

func.func @kind(%arg: tensor<8xf32>) {
  // expected-error @+1 {{should have a propagation edges attribute of type PropagationEdgesAttr for attr named 'sdy.propagation_edges'}}
  %0 = stablehlo.negate %arg {sdy.propagation_edges = []} : tensor<8xf32>
  return
}

// -----

func.func @kind_of_list(%arg: tensor<8xf32>) {
  // expected-error @+1 {{should have a propagation edges attribute of type ArrayAttr<PropagationEdgesAttr> for attr named 'sdy.result_propagation_edges' or 'sdy.block_arg_propagation_edges'}}
  %0 = stablehlo.negate %arg {sdy.result_propagation_edges = [unit]} : tensor<8xf32>
  return
}

// -----

func.func @no_sharding(%arg: tensor<8xf32>) {
  // expected-error @+1 {{expected propagation edges attr to reference a sharding.}}
  %0 = stablehlo.negate %arg {sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"x" = operand-0 -> [result-0]}]}]>} : tensor<8xf32>
  return
}

// -----

func.func @two_meshes(%arg: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}]>}) {
  // expected-error @+1 {{expected a common mesh for propagation edges attr.}}
  %0 = stablehlo.negate %arg {
    sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"x" = operand-0 -> [result-0]}]}]>,
    sdy.sharding = #sdy.sharding_per_value<[<mesh<["x"=4]>, [{"x"}]>]>} : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @unknown_axis(%arg: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // expected-error @+1 {{expected axis ref to be in one of the meshes}}
  %0 = stablehlo.negate %arg {sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"y" = operand-0 -> [result-0]}]}]>} : tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @unknown_operand(%arg: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // expected-error @+1 {{expected a value ref to have an operand index in range [0, 1), got: 2}}
  %0 = stablehlo.negate %arg {sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"x" = operand-0 -> [operand-2]}]}]>} : tensor<8xf32>
  return
}

// -----

// The operands of a data-flow edge are its sources: for a loop, the initial value and the returned one.
sdy.mesh @mesh = <["a"=2]>
func.func @sources_of_a_loop(%x: tensor<8xf32>, %i: tensor<i1>) -> tensor<8xf32> {
  %0 = stablehlo.while(%v = %x) : tensor<8xf32>
  cond {
    stablehlo.return %i : tensor<i1>
  } do {
    stablehlo.return %v : tensor<8xf32>
  }
  // expected-error @+1 {{expected a value ref to have an operand index in range [0, 2), got: 2}}
  %1 = sdy.data_flow_edge %0 sharding=<@mesh, [{"a"}]> {sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"a" = operand-1 -> [operand-2, result-0]}]}]>} : tensor<8xf32>
  return %1 : tensor<8xf32>
}
