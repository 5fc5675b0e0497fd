// RUN: sdy-opt %s -symbol-dce -cse --verify-each=false --mlir-generate-reproducer=%t/made.mlir | filecheck %s
// RUN: filecheck %s --check-prefix=MADE --input-file %t/made.mlir
// RUN: sdy-opt %t/made.mlir --run-reproducer | filecheck %s --check-prefix=RUN-AGAIN

// The reproducer contains the program before the first pass; --run-reproducer runs the passes.
// MADE:       func.func private @unused
// MADE:       mlir_reproducer: {
// MADE-NEXT:    pipeline: "builtin.module(symbol-dce,cse)",
// MADE-NEXT:    disable_threading: true,
// MADE-NEXT:    verify_each: false

// CHECK-NOT:     @unused
// RUN-AGAIN-NOT: @unused
// RUN-AGAIN-NOT: mlir_reproducer
func.func private @unused() {
  return
}
