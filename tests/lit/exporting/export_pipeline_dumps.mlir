// The files contain the debug info of propagation; the output does not.
// RUN: sdy-opt %s -sdy-export-pipeline='dump-directory=%t dump-sharding-origins=true enable-insert-explicit-collectives=true' | filecheck %s
// RUN: filecheck %s --check-prefix=PROPAGATED --input-file=%t/00.after_propagation.mlir
// RUN: filecheck %s --check-prefix=RESHARDS --input-file=%t/01.after_explicit_reshards.mlir
// RUN: filecheck %s --check-prefix=COLLECTIVES --input-file=%t/02.after_partitioner_passes.mlir

// If a file cannot be written, a warning is printed and the pipeline continues.
// RUN: sdy-opt %s -sdy-export-pipeline=dump-directory=%s 2>&1 | filecheck %s --check-prefix=UNWRITTEN
// UNWRITTEN:      warning: error when writing file {{.*}}/00.after_propagation.mlir:
// UNWRITTEN-NEXT: warning: error when writing file {{.*}}/01.after_partitioner_passes.mlir:
// UNWRITTEN-NEXT: module {

sdy.mesh @mesh = <["x"=2]>

// CHECK:           stablehlo.optimization_barrier {sdy.sharding = {{.*}}} %arg0
// CHECK-NEXT:      sdy.all_gather
// PROPAGATED:      stablehlo.optimization_barrier {{{.*}} sdy.result_sharding_origins = [{x = "input: 0"}], sdy.sharding = {{.*}}} %arg0
// PROPAGATED-NEXT: return %0
// RESHARDS:        sdy.result_sharding_origins
// RESHARDS-NEXT:   sdy.reshard
// COLLECTIVES:     sdy.result_sharding_origins
// COLLECTIVES-NEXT: sdy.all_gather
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %0 = stablehlo.optimization_barrier %a : tensor<8xf32>
  %1 = sdy.data_flow_edge %0 sharding=<@mesh, [{"x", ?}]> {sdy.sharding_origins = {x = "input: 0"}} : tensor<8xf32>
  return %1 : tensor<8xf32>
}
