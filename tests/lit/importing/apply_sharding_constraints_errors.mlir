// RUN: sdy-opt %s -sdy-apply-sharding-constraints='debug-sharding-origins=true' -split-input-file -verify-diagnostics

sdy.mesh @mesh = <["x"=2]>

// Data-flow edges store the origins of manual computations, so they are required.
func.func @no_edges(%a: tensor<8xf32>) {
  // expected-error @+1 {{sharding origins require data-flow edges: run sdy-add-data-flow-edges first}}
  sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[] manual_axes={"x"} (%b: tensor<4xf32>) {
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}
