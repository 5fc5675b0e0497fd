// What is linted is the program after the passes of the command line, with collectives. The first command needs none;
// the second runs the whole pipeline itself, so that its output is linted; the third leaves it half-way.
// RUN: sdy-opt %s --lint=missed-reduce-scatter --lint-config=- 2>&1 | filecheck %s
// RUN: sdy-opt %s -sdy-propagation-pipeline=enable-insert-explicit-collectives=true --lint=missed-reduce-scatter --lint-config=- 2>&1 | filecheck %s
// RUN: sdy-opt %s -sdy-basic-propagate --lint=missed-reduce-scatter --lint-config=- 2>&1 | filecheck %s
// A pass can remove what a rule looks for: without shardings there are no collectives.
// RUN: sdy-opt %s -sdy-drop-sharding-and-mesh --lint=missed-reduce-scatter --lint-config=- 2>&1 | filecheck %s --check-prefix=DROPPED

// CHECK: stages.mlir:18:8: warning: all_reduce {"data", "fsdp"} of tensor<512x512xf32> is sliced along "fsdp" next
// DROPPED-NOT: is sliced
// DROPPED: no findings
sdy.mesh @mesh = <["data"=2, "fsdp"=4]>

func.func @gradient(
    %x: tensor<4096x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", "fsdp"}, {}]>},
    %g: tensor<4096x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", "fsdp"}, {}]>})
    -> (tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"fsdp"}, {}]>}) {
  %0 = stablehlo.dot_general %x, %g, contracting_dims = [0] x [0] : (tensor<4096x512xf32>, tensor<4096x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
