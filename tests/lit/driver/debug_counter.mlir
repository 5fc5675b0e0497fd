// One attempt to apply a pattern is skipped, and then one is made; passes are counted too.
// RUN: sdy-opt %s -canonicalize --mlir-debug-counter=apply-pattern-skip=1,apply-pattern-count=1 | filecheck %s --check-prefix=SECOND
// RUN: sdy-opt %s -canonicalize -cse --mlir-print-debug-counter -o %t 2>&1 | filecheck %s --check-prefix=COUNTS
// RUN: sdy-opt %s -canonicalize -symbol-dce --mlir-debug-counter=pass-execution-skip=1 | filecheck %s --check-prefix=PASS
// RUN: not sdy-opt %s --mlir-debug-counter=apply-pattern=1 2>&1 | filecheck %s --check-prefix=NAME
// RUN: not sdy-opt %s --mlir-debug-counter=apply-pattern-skip=x 2>&1 | filecheck %s --check-prefix=NUMBER

// COUNTS:      DebugCounter counters:
// COUNTS-NEXT: apply-pattern                   : {[[#]],0,-1}
// COUNTS-NEXT: pass-execution                  : {2,0,-1}

// NAME:      no counter has the setting 'apply-pattern'
// NAME-NEXT: help: did you mean 'apply-pattern-
// NUMBER:    for the --mlir-debug-counter option: 'x' value invalid for uint argument!

// PASS-NOT: @unused
func.func private @unused() {
  return
}

// SECOND-LABEL: @main
// SECOND-COUNT-2: mesh.all_reduce
// SECOND-NOT: mesh.all_reduce
mesh.mesh @mesh(shape = 2)
func.func @main(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = mesh.all_reduce %a on @mesh mesh_axes = [] : tensor<8xf32> -> tensor<8xf32>
  %1 = mesh.all_reduce %0 on @mesh mesh_axes = [] : tensor<8xf32> -> tensor<8xf32>
  %2 = mesh.all_reduce %1 on @mesh mesh_axes = [] : tensor<8xf32> -> tensor<8xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
