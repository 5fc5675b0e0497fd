// RUN: sdy-opt %s -sdy-drop-sharding-and-mesh --verify-diagnostics

sdy.mesh @mesh = <["x"=2]>

// An sdy operation keeps its sharding, whose mesh is erased.
func.func @reshard(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'sdy.reshard' op unknown mesh: @mesh}}
  %0 = sdy.reshard %x <@mesh, [{"x"}]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}
