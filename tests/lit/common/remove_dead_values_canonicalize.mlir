// RUN: sdy-opt %s -remove-dead-values | filecheck %s
// RUN: sdy-opt %s -remove-dead-values=canonicalize=false | filecheck %s --check-prefix=OFF
// RUN: sdy-opt %s -remove-dead-values -dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=PIPELINE

// PIPELINE: remove-dead-values{canonicalize=true}

// Operations of scf with regions are canonicalized afterwards, and others are not.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[S:.*]] = arith.select %arg0, %arg1, %arg2 : i32
// CHECK-NEXT: %[[A:.*]] = arith.addi %[[S]], %arg1 : i32
// CHECK-NEXT: %[[Z:.*]] = arith.constant 0 : i32
// CHECK-NEXT: %[[B:.*]] = arith.addi %[[A]], %[[Z]] : i32
// CHECK-NEXT: return %[[B]] : i32
// OFF-LABEL: func.func @main
// OFF: scf.if
// OFF: scf.for
func.func @main(%c: i1, %x: i32, %y: i32, %n: index) -> i32 {
  %0 = scf.if %c -> (i32) {
    scf.yield %x : i32
  } else {
    scf.yield %y : i32
  }
  %1 = scf.for %i = %n to %n step %n iter_args(%a = %x) -> (i32) {
    %2 = arith.addi %a, %a : i32
    scf.yield %2 : i32
  }
  %3 = arith.addi %0, %1 : i32
  %zero = arith.constant 0 : i32
  %4 = arith.addi %3, %zero : i32
  return %4 : i32
}
