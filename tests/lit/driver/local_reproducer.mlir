// A local reproducer has the program before the pass that failed, and this pass alone.
// RUN: not sdy-opt %s --pass-pipeline="builtin.module(cse,func.func(cse,symbol-dce))" -o /dev/null \
// RUN:   --mlir-pass-pipeline-crash-reproducer=%t/made.mlir --mlir-pass-pipeline-local-reproducer 2>&1 | filecheck %s
// RUN: filecheck %s --check-prefix=MADE --input-file %t/made.mlir

// CHECK: error: Failures have been detected while processing an MLIR pass pipeline
// CHECK: note: Pipeline failed while executing `SymbolDCEPass` on 'func.func' operation: @main: reproducer generated at `{{.*}}made.mlir`

// MADE:      module @program
// MADE:        %0 = stablehlo.add
// MADE-NEXT:   return
// MADE:      pipeline: "builtin.module(func.func(symbol-dce))"

// It fails in the same way.
// RUN: not sdy-opt %t/made.mlir --run-reproducer --dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=AGAIN
// AGAIN: builtin.module(func.func(symbol-dce))
// AGAIN: error: 'func.func' op  was scheduled to run under SymbolDCE, but does not define a symbol table

// RUN: not sdy-opt missing.mlir --mlir-pass-pipeline-local-reproducer 2>&1 | filecheck %s --check-prefix=NO-FILE
// NO-FILE:      the --mlir-pass-pipeline-local-reproducer option has no file to write to
// NO-FILE-NEXT: help: add --mlir-pass-pipeline-crash-reproducer=FILE
module @program {
  func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = stablehlo.add %x, %x : tensor<4xf32>
    %1 = stablehlo.add %x, %x : tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
}
