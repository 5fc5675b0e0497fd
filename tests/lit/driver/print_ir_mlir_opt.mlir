// RUN: sdy-opt %s -mesh-version=22 -pass-pipeline="builtin.module(inline,func.func(cse),symbol-dce)" -mlir-print-ir-after-all -mlir-print-ir-module-scope 2>&1 | filecheck %s
// RUN: not sdy-opt %s -mesh-version=22 -pass-pipeline="builtin.module(func.func(sharding-propagation))" -mlir-print-ir-after-failure 2>&1 | filecheck %s --check-prefix=FAILED
// RUN: sdy-opt %s -mesh-version=22 -cse -mlir-print-ir-before-all 2>&1 | filecheck %s --check-prefix=BEFORE

// With a later release of LLVM, the headers of IR dumps are those of its mlir-opt.

// CHECK: // -----// IR Dump After Inliner (inline) ('builtin.module' operation) //----- //
// CHECK: // -----// IR Dump After CSE (cse) ('func.func' operation: @f) //----- //
// CHECK: // -----// IR Dump After SymbolDCE (symbol-dce) ('builtin.module' operation) //----- //
// FAILED: // -----// IR Dump After ShardingPropagation Failed (sharding-propagation) //----- //
// BEFORE: // -----// IR Dump Before CSE (cse) //----- //
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.absf %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
