// Without an implicit module, the top-level operation is parsed, transformed and printed as it is.
// RUN: not sdy-opt %s -split-input-file --no-implicit-module -cse 2> /dev/null | filecheck %s
// RUN: not sdy-opt %s -split-input-file --no-implicit-module -cse 2>&1 > /dev/null | filecheck %s --check-prefix=ERROR

// CHECK-NOT:  module
// CHECK:      func.func @one_function() {
// CHECK-NEXT:   return
// CHECK-NEXT: }
func.func @one_function() {
  return
}

// -----

// CHECK:      module @one_module {
module @one_module {
}

// -----

// ERROR: 0:0: error: source must contain a single top-level operation, found: 2
// ERROR: help: remove --no-implicit-module
func.func @first() {
  return
}
func.func @second() {
  return
}

// -----

// Passes on functions are not nested: the pipeline of the pass flags runs on the top-level operation.
// RUN: sdy-opt %S/Inputs/one_function.mlir --no-implicit-module -mesh-spmdization -cse --dump-pass-pipeline 2>&1 \
// RUN:   | filecheck %s --check-prefix=DUMP
// DUMP: func.func(mesh-spmdization,cse)

// RUN: sdy-opt %S/Inputs/one_function.mlir --no-implicit-module --pass-pipeline="func.func(cse)" \
// RUN:   | filecheck %s --check-prefix=FUNCTION
// FUNCTION: {{^}}func.func @function

// A textual pipeline runs on its anchor.
// RUN: not sdy-opt %S/Inputs/one_function.mlir --no-implicit-module --pass-pipeline="builtin.module(cse)" 2>&1 \
// RUN:   | filecheck %s --check-prefix=ANCHOR
// ANCHOR: error: can't run 'builtin.module' pass manager on 'func.func' op

// A pass on modules cannot run on a function.
// RUN: not sdy-opt %S/Inputs/one_function.mlir --no-implicit-module -inline 2>&1 | filecheck %s --check-prefix=MODULE
// MODULE:      error: Can't add pass 'InlinerPass' restricted to 'builtin.module' on a PassManager
// MODULE-NEXT: help: remove --no-implicit-module
func.func @last() {
  return
}
