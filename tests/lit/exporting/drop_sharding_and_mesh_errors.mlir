// RUN: sdy-opt %s -sdy-drop-sharding-and-mesh --sdy-version=jaxlib-0.10.2 --verify-diagnostics
// RUN: sdy-opt %s -sdy-drop-sharding-and-mesh | filecheck %s

// An sdy operation keeps its sharding. Before jaxlib 0.11.2, its mesh is erased.
// CHECK: sdy.mesh @mesh =
sdy.mesh @mesh = <["x"=2]>
// CHECK-NOT: @unused
sdy.mesh @unused = <["x"=2]>

// CHECK: func.func @reshard
func.func @reshard(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'sdy.reshard' op unknown mesh: @mesh}}
  %0 = sdy.reshard %x <@mesh, [{"x"}]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}
