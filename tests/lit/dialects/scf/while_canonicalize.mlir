// RUN: sdy-opt %s -canonicalize -allow-unregistered-dialect | filecheck %s

// A loop whose values all come from outside has no results, and no effects.
// CHECK-LABEL: @forwarded
// CHECK-NEXT: return %arg1 : i32
func.func @forwarded(%c: i1, %x: i32) -> i32 {
  %0:2 = scf.while (%a = %x) : (i32) -> (i32, i32) {
    scf.condition(%c) %a, %x : i32, i32
  } do {
  ^bb0(%b: i32, %d: i32):
    scf.yield %d : i32
  }
  return %0#0 : i32
}

// Two values that are always equal are one.
// CHECK-LABEL: @duplicates
func.func @duplicates(%x: i32, %y: i32) -> i32 {
  // CHECK-NEXT: %0 = scf.while (%arg2 = %arg0) : (i32) -> i32 {
  // CHECK-NEXT:   %2 = "x.next"(%arg2, %arg2) : (i32, i32) -> i32
  // CHECK-NEXT:   %3 = arith.cmpi slt, %2, %arg1 : i32
  // CHECK-NEXT:   scf.condition(%3) %2 : i32
  // CHECK-NEXT: } do {
  // CHECK-NEXT: ^bb0(%arg2: i32):
  // CHECK-NEXT:   scf.yield %arg2 : i32
  %0:2 = scf.while (%a = %x, %b = %x) : (i32, i32) -> (i32, i32) {
    %2 = "x.next"(%a, %b) : (i32, i32) -> i32
    %3 = arith.cmpi slt, %2, %y : i32
    scf.condition(%3) %2, %2 : i32, i32
  } do {
  ^bb0(%a: i32, %b: i32):
    scf.yield %b, %a : i32, i32
  }
  // CHECK: %1 = "x.use"(%0, %0) : (i32, i32) -> i32
  %1 = "x.use"(%0#0, %0#1) : (i32, i32) -> i32
  return %1 : i32
}

// The arguments of the first region are forwarded in their order.
// CHECK-LABEL: @aligned
func.func @aligned(%c: i1, %x: i32, %y: i32) -> (i32, i32) {
  // CHECK-NEXT: %0:2 = scf.while (%arg3 = %arg1, %arg4 = %arg2) : (i32, i32) -> (i32, i32) {
  // CHECK-NEXT:   scf.condition(%arg0) %arg3, %arg4 : i32, i32
  // CHECK-NEXT: } do {
  // CHECK-NEXT: ^bb0(%arg3: i32, %arg4: i32):
  // CHECK-NEXT:   %1 = "x.use"(%arg4) : (i32) -> i32
  // CHECK-NEXT:   scf.yield %arg4, %1 : i32, i32
  // CHECK-NEXT: }
  // CHECK-NEXT: return %0#1, %0#0 : i32, i32
  %0:2 = scf.while (%a = %x, %b = %y) : (i32, i32) -> (i32, i32) {
    scf.condition(%c) %b, %a : i32, i32
  } do {
  ^bb0(%b: i32, %a: i32):
    %1 = "x.use"(%b) : (i32) -> i32
    scf.yield %b, %1 : i32, i32
  }
  return %0#0, %0#1 : i32, i32
}

// The second region runs only if the condition holds.
// CHECK-LABEL: @condition
func.func @condition(%x: i32, %y: i32) {
  // CHECK-DAG: %[[TRUE:.*]] = arith.constant true
  // CHECK-DAG: %[[FALSE:.*]] = arith.constant false
  // CHECK: "x.use"(%[[TRUE]], %[[TRUE]], %[[FALSE]]) : (i1, i1, i1) -> i32
  %0:2 = scf.while (%a = %x) : (i32) -> (i1, i32) {
    %c = arith.cmpi slt, %a, %y : i32
    scf.condition(%c) %c, %a : i1, i32
  } do {
  ^bb0(%c: i1, %a: i32):
    %same = arith.cmpi slt, %a, %y : i32
    %inverse = arith.cmpi sge, %a, %y : i32
    %1 = "x.use"(%c, %same, %inverse) : (i1, i1, i1) -> i32
    scf.yield %1 : i32
  }
  return
}

// Arguments of a loop that are exchanged in each iteration, and equal.
// CHECK-LABEL: @exchanged
func.func @exchanged(%n: index, %x: i32) -> i32 {
  // CHECK: "x.use"(%arg1, %arg1)
  // CHECK: return %arg1 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x) -> (i32, i32) {
    "x.use"(%a, %b) : (i32, i32) -> ()
    scf.yield %b, %a : i32, i32
  }
  return %0#0 : i32
}
