// If a pass fails, the program before the first pass is written with the pipeline.
// RUN: not sdy-opt %s -symbol-dce -canonicalize="max-iterations=1 test-convergence=true" -o /dev/null \
// RUN:   --mlir-pass-pipeline-crash-reproducer=%t/made.mlir --mlir-print-ir-after-failure 2>&1 | filecheck %s
// RUN: filecheck %s --check-prefix=MADE --input-file %t/made.mlir

// CHECK:      // -----// IR Dump After CanonicalizerPass Failed: canonicalize{{.*}} //----- //
// CHECK:      crash_reproducer.mlir:{{[0-9]+}}:1: error: Failures have been detected while processing an MLIR pass pipeline
// CHECK:      note: Pipeline failed while executing [`CanonicalizerPass` on 'builtin.module' operation]: reproducer generated at `{{.*}}made.mlir`

// MADE: @unused
// MADE: pipeline: "builtin.module(symbol-dce,canonicalize{{.*}})"
module {
  func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = stablehlo.reshape %x : (tensor<4xf32>) -> tensor<4xf32>
    %1 = stablehlo.reshape %0 : (tensor<4xf32>) -> tensor<4xf32>
    %2 = stablehlo.negate %1 : tensor<4xf32>
    return %1, %1 : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @unused()
}
