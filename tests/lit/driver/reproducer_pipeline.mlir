// A reproducer contains the passes of a pipeline, including those that help does not list.
// RUN: sdy-opt %s -sdy-propagation-pipeline --mlir-generate-reproducer=%t.repro -o %t.out
// RUN: filecheck %s --check-prefix=REPRODUCER --input-file=%t.repro
// RUN: sdy-opt %t.repro --run-reproducer | filecheck %s
// REPRODUCER: pipeline: "builtin.module({{.*}}sdy-save-module,

sdy.mesh @mesh = <["x"=2]>

// CHECK: stablehlo.negate {{.*}}[{"x"}]
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.negate %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}
