// RUN: sdy-opt %s --allow-unregistered-dialect -canonicalize | filecheck %s

// Results and branches that nothing needs, conditions that are known, and ifs that become one.

func.func @unused(%c: i1, %x: i32) -> i32 {
  %0:2 = scf.if %c -> (i32, i32) {
    %1 = "test.a"() : () -> i32
    scf.yield %x, %1 : i32, i32
  } else {
    %1 = "test.b"() : () -> i32
    scf.yield %1, %1 : i32, i32
  }
  return %0#1 : i32
}

func.func @select(%c: i1, %x: i32, %y: i32) -> i32 {
  %0 = scf.if %c -> (i32) {
    "test.a"() : () -> ()
    scf.yield %x : i32
  } else {
    scf.yield %y : i32
  }
  return %0 : i32
}

func.func @condition(%c: i1) -> i1 {
  %true = arith.constant true
  %false = arith.constant false
  %0 = scf.if %c -> (i1) {
    "test.a"(%c) : (i1) -> ()
    scf.yield %false : i1
  } else {
    "test.b"() : () -> ()
    scf.yield %true : i1
  }
  return %0 : i1
}

func.func @empty_else(%c: i1) {
  scf.if %c {
    "test.a"() : () -> ()
  } else {
  }
  return
}

func.func @negated(%c: i1) -> i32 {
  %true = arith.constant true
  %n = arith.xori %c, %true : i1
  %0 = scf.if %n -> (i32) {
    %1 = "test.a"() : () -> i32
    scf.yield %1 : i32
  } else {
    %1 = "test.b"() : () -> i32
    scf.yield %1 : i32
  }
  return %0 : i32
}

func.func @nested(%c: i1, %d: i1, %x: i32, %y: i32) -> (i32, i32) {
  %0:2 = scf.if %c -> (i32, i32) {
    %1 = scf.if %d -> (i32) {
      %2 = "test.a"() : () -> i32
      scf.yield %2 : i32
    } else {
      scf.yield %y : i32
    }
    scf.yield %1, %x : i32, i32
  } else {
    scf.yield %y, %y : i32, i32
  }
  return %0#0, %0#1 : i32, i32
}

func.func @in_a_row(%c: i1) -> i32 {
  %0 = scf.if %c -> (i32) {
    %1 = "test.a"() : () -> i32
    scf.yield %1 : i32
  } else {
    %1 = "test.b"() : () -> i32
    scf.yield %1 : i32
  }
  %2 = scf.if %c -> (i32) {
    %3 = "test.c"(%0) : (i32) -> i32
    scf.yield %3 : i32
  } else {
    %3 = "test.d"(%0) : (i32) -> i32
    scf.yield %3 : i32
  }
  return %2 : i32
}

// Patterns simplify the merged first two ifs before the third is merged with them.
func.func @select_first(%c: i1, %x: i32, %y: i32) -> i32 {
  %zero = arith.constant 0 : i32
  scf.if %c {
    "a"(%x) : (i32) -> ()
  }
  %0 = scf.if %c -> (i32) {
    %a = arith.addi %x, %zero : i32
    scf.yield %a : i32
  } else {
    scf.yield %y : i32
  }
  %1 = scf.if %c -> (i32) {
    %a = "b"(%0) : (i32) -> i32
    scf.yield %a : i32
  } else {
    %a = "c"(%0) : (i32) -> i32
    scf.yield %a : i32
  }
  return %1 : i32
}
func.func @several(%c: i1, %x: i32) -> (i32, i32, i32) {
  %0 = scf.if %c -> (i32) {
    %a = "a"(%x) : (i32) -> i32
    scf.yield %a : i32
  } else {
    %a = "b"(%x) : (i32) -> i32
    scf.yield %a : i32
  }
  %1 = scf.if %c -> (i32) {
    %a = "a"(%0) : (i32) -> i32
    scf.yield %a : i32
  } else {
    %a = "b"(%x) : (i32) -> i32
    scf.yield %a : i32
  }
  %2 = scf.if %c -> (i32) {
    %a = "a"(%0) : (i32) -> i32
    scf.yield %a : i32
  } else {
    %a = "b"(%1) : (i32) -> i32
    scf.yield %a : i32
  } {lost_by_merging}
  return %0, %1, %2 : i32, i32, i32
}

// CHECK: module {
// CHECK-NEXT: func.func @unused(%arg0: i1, %arg1: i32) -> i32 {
// CHECK-NEXT: %0 = scf.if %arg0 -> (i32) {
// CHECK-NEXT: %1 = "test.a"() : () -> i32
// CHECK-NEXT: scf.yield %1 : i32
// CHECK-NEXT: } else {
// CHECK-NEXT: %1 = "test.b"() : () -> i32
// CHECK-NEXT: scf.yield %1 : i32
// CHECK-NEXT: }
// CHECK-NEXT: return %0 : i32
// CHECK-NEXT: }
// CHECK-NEXT: func.func @select(%arg0: i1, %arg1: i32, %arg2: i32) -> i32 {
// CHECK-NEXT: %0 = arith.select %arg0, %arg1, %arg2 : i32
// CHECK-NEXT: scf.if %arg0 {
// CHECK-NEXT: "test.a"() : () -> ()
// CHECK-NEXT: }
// CHECK-NEXT: return %0 : i32
// CHECK-NEXT: }
// CHECK-NEXT: func.func @condition(%arg0: i1) -> i1 {
// CHECK-NEXT: %true = arith.constant true
// CHECK-NEXT: %0 = arith.xori %arg0, %true : i1
// CHECK-NEXT: scf.if %arg0 {
// CHECK-NEXT: "test.a"(%true) : (i1) -> ()
// CHECK-NEXT: } else {
// CHECK-NEXT: "test.b"() : () -> ()
// CHECK-NEXT: }
// CHECK-NEXT: return %0 : i1
// CHECK-NEXT: }
// CHECK-NEXT: func.func @empty_else(%arg0: i1) {
// CHECK-NEXT: scf.if %arg0 {
// CHECK-NEXT: "test.a"() : () -> ()
// CHECK-NEXT: }
// CHECK-NEXT: return
// CHECK-NEXT: }
// CHECK-NEXT: func.func @negated(%arg0: i1) -> i32 {
// CHECK-NEXT: %0 = scf.if %arg0 -> (i32) {
// CHECK-NEXT: %1 = "test.b"() : () -> i32
// CHECK-NEXT: scf.yield %1 : i32
// CHECK-NEXT: } else {
// CHECK-NEXT: %1 = "test.a"() : () -> i32
// CHECK-NEXT: scf.yield %1 : i32
// CHECK-NEXT: }
// CHECK-NEXT: return %0 : i32
// CHECK-NEXT: }
// CHECK-NEXT: func.func @nested(%arg0: i1, %arg1: i1, %arg2: i32, %arg3: i32) -> (i32, i32) {
// CHECK-NEXT: %0 = arith.andi %arg0, %arg1 : i1
// CHECK-NEXT: %1 = arith.select %arg0, %arg2, %arg3 : i32
// CHECK-NEXT: %2 = scf.if %0 -> (i32) {
// CHECK-NEXT: %3 = "test.a"() : () -> i32
// CHECK-NEXT: scf.yield %3 : i32
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %arg3 : i32
// CHECK-NEXT: }
// CHECK-NEXT: return %2, %1 : i32, i32
// CHECK-NEXT: }
// CHECK-NEXT: func.func @in_a_row(%arg0: i1) -> i32 {
// CHECK-NEXT: %0 = scf.if %arg0 -> (i32) {
// CHECK-NEXT: %1 = "test.a"() : () -> i32
// CHECK-NEXT: %2 = "test.c"(%1) : (i32) -> i32
// CHECK-NEXT: scf.yield %2 : i32
// CHECK-NEXT: } else {
// CHECK-NEXT: %1 = "test.b"() : () -> i32
// CHECK-NEXT: %2 = "test.d"(%1) : (i32) -> i32
// CHECK-NEXT: scf.yield %2 : i32
// CHECK-NEXT: }
// CHECK-NEXT: return %0 : i32
// CHECK-NEXT: }
// CHECK-NEXT: func.func @select_first(%arg0: i1, %arg1: i32, %arg2: i32) -> i32 {
// CHECK-NEXT: %0 = arith.select %arg0, %arg1, %arg2 : i32
// CHECK-NEXT: %1 = scf.if %arg0 -> (i32) {
// CHECK-NEXT: "a"(%arg1) : (i32) -> ()
// CHECK-NEXT: %2 = "b"(%0) : (i32) -> i32
// CHECK-NEXT: scf.yield %2 : i32
// CHECK-NEXT: } else {
// CHECK-NEXT: %2 = "c"(%0) : (i32) -> i32
// CHECK-NEXT: scf.yield %2 : i32
// CHECK-NEXT: }
// CHECK-NEXT: return %1 : i32
// CHECK-NEXT: }
// CHECK-NEXT: func.func @several(%arg0: i1, %arg1: i32) -> (i32, i32, i32) {
// CHECK-NEXT: %0:3 = scf.if %arg0 -> (i32, i32, i32) {
// CHECK-NEXT: %1 = "a"(%arg1) : (i32) -> i32
// CHECK-NEXT: %2 = "a"(%1) : (i32) -> i32
// CHECK-NEXT: %3 = "a"(%1) : (i32) -> i32
// CHECK-NEXT: scf.yield %1, %2, %3 : i32, i32, i32
// CHECK-NEXT: } else {
// CHECK-NEXT: %1 = "b"(%arg1) : (i32) -> i32
// CHECK-NEXT: %2 = "b"(%arg1) : (i32) -> i32
// CHECK-NEXT: %3 = "b"(%2) : (i32) -> i32
// CHECK-NEXT: scf.yield %1, %2, %3 : i32, i32, i32
// CHECK-NOT: lost_by_merging
// CHECK: return %0#0, %0#1, %0#2 : i32, i32, i32
// CHECK-NEXT: }
// CHECK-NEXT: }
