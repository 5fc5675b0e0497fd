// RUN: sdy-opt %s --pass-pipeline="builtin.module(func.func(cse,canonicalize),symbol-dce)" -o /dev/null \
// RUN:   --mlir-print-ir-after-all 2>&1 | filecheck %s --check-prefix=ORDER
// RUN: sdy-opt %s -cse -symbol-dce -o /dev/null --mlir-print-ir-after-change 2>&1 | filecheck %s --check-prefix=CHANGE
// RUN: sdy-opt %s -cse -symbol-dce -o /dev/null --mlir-print-ir-before=symbol-dce 2>&1 | filecheck %s --check-prefix=BEFORE
// RUN: sdy-opt %s --pass-pipeline="builtin.module(func.func(cse))" -o /dev/null --mlir-print-ir-after=cse \
// RUN:   --mlir-print-ir-module-scope 2>&1 | filecheck %s --check-prefix=SCOPE
// RUN: sdy-opt %s --pass-pipeline="builtin.module(func.func(cse),symbol-dce)" -o /dev/null --mlir-print-ir-after-all \
// RUN:   --mlir-print-ir-tree-dir=%t
// RUN: filecheck %s --check-prefix=AFTER-CSE --input-file %t/builtin_module_no-symbol-name/func_func_main/0_0_cse.mlir
// RUN: filecheck %s --check-prefix=AFTER-DCE --input-file %t/builtin_module_no-symbol-name/1_symbol-dce.mlir

// All passes of a nested pipeline run on one function before they run on the next one.
// ORDER:      // -----// IR Dump After CSEPass: cse //----- //
// ORDER-NEXT: func.func @main() {
// ORDER-NEXT:   return
// ORDER-NEXT: }
// ORDER:      // -----// IR Dump After CanonicalizerPass: canonicalize
// ORDER-NEXT: func.func @main() {
// ORDER:      // -----// IR Dump After CSEPass: cse //----- //
// ORDER-NEXT: func.func private @unused() {
// ORDER:      // -----// IR Dump After CanonicalizerPass: canonicalize
// ORDER-NEXT: func.func private @unused() {
// ORDER:      // -----// IR Dump After SymbolDCEPass: symbol-dce //----- //
// ORDER-NEXT: module {

// The program is printed only after passes that changed it.
// CHANGE-NOT: CSEPass
// CHANGE:     // -----// IR Dump After SymbolDCEPass: symbol-dce //----- //
// CHANGE-NOT: @unused

// BEFORE-NOT:  CSEPass
// BEFORE:      // -----// IR Dump Before SymbolDCEPass: symbol-dce //----- //
// BEFORE:      @unused

// SCOPE:      // -----// IR Dump After CSEPass: cse ('func.func' operation: @main) //----- //
// SCOPE-NEXT: module {
// SCOPE:      // -----// IR Dump After CSEPass: cse ('func.func' operation: @unused) //----- //

// Files in the tree are named after operations and passes.
// AFTER-CSE:      // -----// IR Dump After CSEPass: cse //----- //
// AFTER-CSE-NEXT: func.func @main() {
// AFTER-DCE:     IR Dump After SymbolDCEPass
// AFTER-DCE-NOT: @unused
func.func @main() {
  return
}
func.func private @unused() {
  return
}
