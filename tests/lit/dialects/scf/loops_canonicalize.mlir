// RUN: sdy-opt %s -canonicalize | filecheck %s

// A loop that never runs.
// CHECK-LABEL: func.func @no_trip
func.func @no_trip(%a: f32, %n: index, %step: index) -> f32 {
  // CHECK-NEXT: return %arg0
  %r = scf.for %i = %n to %n step %step iter_args(%x = %a) -> (f32) {
    %y = arith.addf %x, %x : f32
    scf.yield %y : f32
  }
  return %r : f32
}

// A loop that runs once.
// CHECK-LABEL: func.func @one_trip
func.func @one_trip(%a: f32) -> f32 {
  // CHECK-NEXT: %0 = arith.addf %arg0, %arg0 : f32
  // CHECK-NEXT: return %0
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %c8 = arith.constant 8 : index
  %r = scf.for %i = %c0 to %c5 step %c8 iter_args(%x = %a) -> (f32) {
    %y = arith.addf %x, %x : f32
    scf.yield %y : f32
  }
  return %r : f32
}

// `%z` does not change, and nothing uses `%w`.
// CHECK-LABEL: func.func @carried
func.func @carried(%a: f32, %b: f32, %n: index, %step: index, %m: index) -> f32 {
  // CHECK-NEXT: %0 = scf.for %arg5 = %arg2 to %arg4 step %arg3 iter_args(%arg6 = %arg0) -> (f32) {
  // CHECK-NEXT:   %1 = arith.addf %arg6, %arg1 : f32
  // CHECK-NEXT:   scf.yield %1 : f32
  %r:3 = scf.for %i = %n to %m step %step iter_args(%x = %a, %z = %b, %w = %b) -> (f32, f32, f32) {
    %y = arith.addf %x, %z : f32
    scf.yield %y, %z, %y : f32, f32, f32
  }
  return %r#0 : f32
}

// A loop without effects.
// CHECK-LABEL: func.func @unused
func.func @unused(%n: index, %step: index, %m: index) {
  // CHECK-NEXT: return
  scf.for %i = %n to %m step %step {
    %x = arith.addi %i, %i : index
  }
  return
}

// `%y` does not change.
// CHECK-LABEL: func.func @while
func.func @while(%a: f32, %b: f32) -> (f32, f32) {
  // CHECK-NEXT: %0 = scf.while (%arg2 = %arg0) : (f32) -> f32 {
  // CHECK-NEXT:   %1 = func.call @goes_on(%arg2) : (f32) -> i1
  // CHECK-NEXT:   scf.condition(%1) %arg2 : f32
  // CHECK: return %0, %arg1 : f32, f32
  %r:2 = scf.while (%x = %a, %y = %b) : (f32, f32) -> (f32, f32) {
    %c = func.call @goes_on(%x) : (f32) -> i1
    scf.condition(%c) %x, %y : f32, f32
  } do {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    scf.yield %z, %y : f32, f32
  }
  return %r#0, %r#1 : f32, f32
}
func.func private @goes_on(f32) -> i1

// CHECK-LABEL: func.func @if
func.func @if(%a: f32) -> f32 {
  // CHECK-NEXT: %0 = arith.addf %arg0, %arg0 : f32
  // CHECK-NEXT: return %0
  %true = arith.constant true
  %r = scf.if %true -> (f32) {
    %y = arith.addf %a, %a : f32
    scf.yield %y : f32
  } else {
    scf.yield %a : f32
  }
  return %r : f32
}
