// A flag without effect is a warning that says what to do.

// RUN: sdy-opt %s --mlir-print-ir-tree-dir=%t/tree -cse 2>&1 | filecheck %s --check-prefix=TREE
// TREE:      sdy-opt: warning: the --mlir-print-ir-tree-dir option has no effect
// TREE-NEXT: help: add --mlir-print-ir-after-all

// RUN: sdy-opt %s --mlir-timing-display=list --report-rows=3 2>&1 | filecheck %s --check-prefix=OTHERS
// OTHERS: warning: the --mlir-timing-display option has no effect
// OTHERS: help: add --mlir-timing
// OTHERS: warning: the --report-rows option has no effect
// OTHERS: help: add --report

// RUN: sdy-opt %s --run-reproducer 2>&1 | filecheck %s --check-prefix=REPRODUCER
// REPRODUCER:      warning: the --run-reproducer option has no effect: the input contains no reproducer
// REPRODUCER-NEXT: help: write one with --mlir-generate-reproducer

// A pass that does not run prints no IR.
// RUN: sdy-opt %s -cse --mlir-print-ir-after=canonicalize 2>&1 | filecheck %s --check-prefix=PASS
// PASS:      sdy-opt: warning: for the --mlir-print-ir-after option: pass 'canonicalize' did not run
// PASS-NEXT: help: --dump-pass-pipeline prints the passes that run

// A pass that another pass runs prints its IR.
// RUN: sdy-opt %s -inline --mlir-print-ir-after=canonicalize 2>&1 | filecheck %s --check-prefix=NESTED
// NESTED-NOT: warning:
// NESTED:     IR Dump After CanonicalizerPass

// A pipeline is not a pass.
// RUN: sdy-opt %s -sdy-import-pipeline --mlir-print-ir-before=sdy-import-pipeline 2>&1 | filecheck %s --check-prefix=PIPELINE
// PIPELINE: help: 'sdy-import-pipeline' is a pipeline; name one of its passes, which --dump-pass-pipeline prints

// With --werror the program is not printed.
// RUN: not sdy-opt %s -cse --mlir-print-ir-after=canonicalize --werror 2>&1 | filecheck %s --check-prefix=WERROR
// WERROR:     sdy-opt: error: for the --mlir-print-ir-after option: pass 'canonicalize' did not run [--werror]
// WERROR-NOT: @main

// --verify-diagnostics ignores such warnings.
// RUN: sdy-opt %s -cse --mlir-print-ir-after=canonicalize --verify-diagnostics 2>&1 | filecheck %s --check-prefix=VERIFY
// VERIFY-NOT: warning:
// VERIFY:     @main
func.func @main() {
  return
}
