// What is linted is the program after the passes of the command line, with collectives. The first command needs none;
// the second runs the whole pipeline itself, so that its output is linted; the third leaves it half-way.
// RUN: sdy-opt %s --lint=replicated-value --lint-config=- 2>&1 | filecheck %s
// RUN: sdy-opt %s -sdy-propagation-pipeline=enable-insert-explicit-collectives=true --lint=replicated-value --lint-config=- 2>&1 | filecheck %s
// RUN: sdy-opt %s -sdy-basic-propagate --lint=replicated-value --lint-config=- 2>&1 | filecheck %s
// A pass can remove what a rule looks for: without shardings, nothing is replicated.
// RUN: sdy-opt %s -sdy-drop-sharding-and-mesh --lint=replicated-value --lint-config=- 2>&1 | filecheck %s --check-prefix=DROPPED

// CHECK: warning: argument 0 of @main, f32[4096,4096], is replicated: 64.0 MiB on each of 4 devices
// DROPPED-NOT: is replicated
// DROPPED: no findings
sdy.mesh @mesh = <["x"=4]>

func.func @main(%w: tensor<4096x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %a: tensor<64x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
    -> tensor<64x4096xf32> {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [1] : (tensor<64x4096xf32>, tensor<4096x4096xf32>) -> tensor<64x4096xf32>
  return %0 : tensor<64x4096xf32>
}
