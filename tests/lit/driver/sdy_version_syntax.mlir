// RUN: sdy-opt %s | filecheck %s
// RUN: not sdy-opt %s --sdy-version=jaxlib-0.10.2 2>&1 | filecheck %s --check-prefix=BEFORE
// RUN: not sdy-opt %s --sdy-version=jaxlib-0.10.2 -sdy-verify-unreduced-axes 2>&1 | filecheck %s --check-prefix=PASS

// Syntax and passes that the selected release lacks are errors, which name the release that has them.
// BEFORE: error: expected '{'
// BEFORE: help: 'max' came with jaxlib-0.11.2; change --sdy-version
// PASS: 'sdy-verify-unreduced-axes'
// PASS: help: the pass came with jaxlib-0.11.2; change --sdy-version

sdy.mesh @mesh = <["x"=2]>

// CHECK: unreduced=max{"x"}
// CHECK: sdy.all_reduce max {"x"}
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"x"}>}) -> tensor<8xf32> {
  %0 = sdy.all_reduce max {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}
