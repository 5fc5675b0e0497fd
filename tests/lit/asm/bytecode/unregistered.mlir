// Operations of unregistered dialects, with and without properties, and forward references in a graph region.
// RUN: sdy-opt %s --allow-unregistered-dialect -o %t.mlir
// RUN: sdy-opt %s --allow-unregistered-dialect --emit-bytecode -o %t.bc
// RUN: sdy-opt %t.bc --allow-unregistered-dialect | diff - %t.mlir
// RUN: not sdy-opt %t.bc 2>&1 | filecheck %s
// RUN: sdy-opt %s --allow-unregistered-dialect --emit-bytecode --emit-bytecode-version=4 | sdy-opt --allow-unregistered-dialect | filecheck %s --check-prefix=OLD

// Before version 5, the properties of an unregistered operation are lost, as in MLIR.
// OLD: "x.second"(%0) ({

// CHECK: error: invalid bytecode: the operation 'x.first' is not registered; -allow-unregistered-dialect reads it
// CHECK: note: at byte {{[0-9]+}} of the file, in the dialect section
// CHECK: help: load the plugin of the dialect 'x' with --load-plugin=FILE.py
%0 = "x.first"(%1#1, %1#0) : (f32, i32) -> i32
%1:2 = "x.second"(%0) <{p = 1 : i32}> ({
^bb0(%a: i32):
  "x.inner"(%a, %0)[^bb1] : (i32, i32) -> ()
^bb1:
  "x.last"() : () -> ()
}) {d = #x.attr<1>, e = dense<["a", "b"]> : tensor<2x!x.s>} : (i32) -> (i32, f32)
