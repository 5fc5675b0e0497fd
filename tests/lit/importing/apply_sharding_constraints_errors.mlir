// RUN: sdy-opt %s -sdy-apply-sharding-constraints='debug-sharding-origins=true' -split-input-file -verify-diagnostics

sdy.mesh @mesh = <["x"=2]>

// Origins of manual computations are kept with data-flow edges, so those have to be there.
func.func @no_edges(%a: tensor<8xf32>) {
  // expected-error @+1 {{sharding origins require data-flow edges: run sdy-add-data-flow-edges first}}
  sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[] manual_axes={"x"} (%b: tensor<4xf32>) {
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}
