// RUN: sdy-opt %s -sdy-add-data-flow-edges -inline -verify-diagnostics

// The simplification before inlining replaces a manual computation without manual axes by its body. The data-flow edge
// of its argument now takes a value with other uses, which only the verifier of the module detects.
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<f32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %a : tensor<f32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4xf32>
  // expected-error @+1 {{'sdy.data_flow_edge' op expected input of sdy.data_flow_edge to have a single user}}
  %2 = sdy.manual_computation(%0, %1) in_shardings=[<@mesh, []>, <@mesh, [{}]>] out_shardings=[<@mesh, [{}]>] manual_axes={} (%b: tensor<f32>, %c: tensor<4xf32>) {
    %3 = stablehlo.negate %c : tensor<4xf32>
    sdy.return %3 : tensor<4xf32>
  } : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
