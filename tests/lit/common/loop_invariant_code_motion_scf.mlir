// RUN: sdy-opt %s -loop-invariant-code-motion | filecheck %s

// To MLIR, scf.for and scf.while are loops: both regions of a while.
// CHECK-LABEL: func.func @f
func.func @f(%n: index, %a: f32, %b: f32, %c: i1) -> (f32, f32) {
  // CHECK-NEXT: %[[SUM:.*]] = arith.addf %arg2, %arg2 : f32
  // CHECK-NEXT: %[[FOR:.*]] = scf.for
  %r = scf.for %i = %n to %n step %n iter_args(%x = %a) -> (f32) {
    %y = arith.addf %b, %b : f32
    // CHECK-NEXT: arith.addf %{{.*}}, %[[SUM]] : f32
    %z = arith.addf %x, %y : f32
    scf.yield %z : f32
  }
  // CHECK: %[[PRODUCT:.*]] = arith.mulf %arg2, %arg2 : f32
  // CHECK-NEXT: scf.while
  %w = scf.while (%x = %a) : (f32) -> f32 {
    %q = arith.mulf %b, %b : f32
    // CHECK-NEXT: scf.condition(%arg3) %[[PRODUCT]] : f32
    scf.condition(%c) %q : f32
  } do {
  ^bb0(%x: f32):
    %z = arith.addf %x, %x : f32
    scf.yield %z : f32
  }
  return %r, %w : f32, f32
}
