// RUN: sdy-opt %s -canonicalize | filecheck %s

// Branches skip blocks that only branch on, and use what is known of their condition.

func.func @pass_through(%c: i1, %i: i32) -> i32 {
  cf.cond_br %c, ^bb1(%i : i32), ^bb2
^bb1(%a: i32):
  cf.br ^bb3(%a : i32)
^bb2:
  %0 = arith.addi %i, %i : i32
  cf.br ^bb3(%0 : i32)
^bb3(%b: i32):
  return %b : i32
}

func.func @same_destination(%c: i1, %i: i32, %j: i32) -> i32 {
  cf.cond_br %c, ^bb1(%i, %i : i32, i32), ^bb1(%j, %i : i32, i32)
^bb1(%a: i32, %b: i32):
  %0 = arith.addi %a, %b : i32
  return %0 : i32
}

func.func @same_condition(%c: i1, %i: i32, %j: i32) -> i32 {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  cf.cond_br %c, ^bb2, ^bb3
^bb2:
  return %i : i32
^bb3:
  return %j : i32
}

func.func @condition(%c: i1) -> i1 {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  return %c : i1
^bb2:
  %0 = arith.xori %c, %c : i1
  cf.assert %c, "false here"
  return %0 : i1
}

func.func @cycle(%c: i1) {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  cf.br ^bb2
^bb2:
  cf.br ^bb1
}

// CHECK: module {
// CHECK-NEXT: func.func @pass_through(%arg0: i1, %arg1: i32) -> i32 {
// CHECK-NEXT: cf.cond_br %arg0, ^bb2(%arg1 : i32), ^bb1
// CHECK-NEXT: ^bb1:  // pred: ^bb0
// CHECK-NEXT: %0 = arith.addi %arg1, %arg1 : i32
// CHECK-NEXT: cf.br ^bb2(%0 : i32)
// CHECK-NEXT: ^bb2(%1: i32):  // 2 preds: ^bb0, ^bb1
// CHECK-NEXT: return %1 : i32
// CHECK-NEXT: }
// CHECK-NEXT: func.func @same_destination(%arg0: i1, %arg1: i32, %arg2: i32) -> i32 {
// CHECK-NEXT: %0 = arith.select %arg0, %arg1, %arg2 : i32
// CHECK-NEXT: %1 = arith.addi %0, %arg1 : i32
// CHECK-NEXT: return %1 : i32
// CHECK-NEXT: }
// CHECK-NEXT: func.func @same_condition(%arg0: i1, %arg1: i32, %arg2: i32) -> i32 {
// CHECK-NEXT: return %arg1 : i32
// CHECK-NEXT: }
// CHECK-NEXT: func.func @condition(%arg0: i1) -> i1 {
// CHECK-NEXT: %true = arith.constant true
// CHECK-NEXT: %false = arith.constant false
// CHECK-NEXT: cf.cond_br %arg0, ^bb1, ^bb2
// CHECK-NEXT: ^bb1:  // pred: ^bb0
// CHECK-NEXT: return %true : i1
// CHECK-NEXT: ^bb2:  // pred: ^bb0
// CHECK-NEXT: cf.assert %false, "false here"
// CHECK-NEXT: return %false : i1
// CHECK-NEXT: }
// CHECK-NEXT: func.func @cycle(%arg0: i1) {
// CHECK-NEXT: cf.cond_br %arg0, ^bb1, ^bb2
// CHECK-NEXT: ^bb1:  // 2 preds: ^bb0, ^bb2
// CHECK-NEXT: cf.br ^bb2
// CHECK-NEXT: ^bb2:  // 2 preds: ^bb0, ^bb1
// CHECK-NEXT: cf.br ^bb1
// CHECK-NEXT: }
// CHECK-NEXT: }
