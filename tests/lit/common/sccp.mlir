// RUN: sdy-opt %s -sccp -split-input-file | filecheck %s
// RUN: sdy-opt %s "--pass-pipeline=builtin.module(func.func(sccp))" -split-input-file | filecheck %s --check-prefix=FUNC

// Constants propagate through operations that fold, to the start of the function, and equal ones are merged.
// CHECK-LABEL: func.func @folds
// CHECK-NEXT:    %[[NINE:.*]] = arith.constant 9 : i32
// CHECK-NEXT:    %[[SIX:.*]] = arith.constant 6 : i32
// CHECK-NEXT:    arith.constant 3 : i32
// CHECK-NEXT:    return %[[SIX]], %[[NINE]] : i32, i32
func.func @folds() -> (i32, i32) {
  %0 = arith.constant 3 : i32
  %1 = arith.constant 3 : i32
  %2 = arith.addi %0, %1 : i32
  %3 = arith.addi %2, %0 : i32
  return %2, %3 : i32, i32
}

// Of a constant condition, only one successor is taken: %z is 9 on the only edge.
// CHECK-LABEL: func.func @branch
// CHECK-DAG:     %[[NINE:.*]] = arith.constant 9 : i32
// CHECK-DAG:     %[[SIX:.*]] = arith.constant 6 : i32
// CHECK:         cf.cond_br %true, ^bb1(%c3_i32 : i32), ^bb2(%c3_i32 : i32)
// CHECK:       ^bb1(%{{.*}}: i32):
// CHECK-NEXT:    cf.br ^bb2(%[[SIX]] : i32)
// CHECK:       ^bb2(%{{.*}}: i32):
// CHECK-NEXT:    return %[[NINE]] : i32
func.func @branch() -> i32 {
  %c = arith.constant 3 : i32
  %t = arith.constant true
  cf.cond_br %t, ^a(%c : i32), ^b(%c : i32)
^a(%x: i32):
  %y = arith.addi %x, %c : i32
  cf.br ^b(%y : i32)
^b(%z: i32):
  %w = arith.addi %z, %c : i32
  return %w : i32
}

// Both regions may be executed: equal results are constant, others are not.
// CHECK-LABEL: func.func @regions
// CHECK:         %[[IF:.*]]:2 = scf.if %arg0 -> (i32, i32) {
// CHECK:         return %c3_i32, %[[IF]]#1 : i32, i32
func.func @regions(%p: i1) -> (i32, i32) {
  %r, %s = scf.if %p -> (i32, i32) {
    %c3 = arith.constant 3 : i32
    %c4 = arith.constant 4 : i32
    scf.yield %c3, %c4 : i32, i32
  } else {
    %c3 = arith.constant 3 : i32
    %c5 = arith.constant 5 : i32
    scf.yield %c3, %c5 : i32, i32
  }
  return %r, %s : i32, i32
}

// An operation whose results are all constant is erased, with its regions.
// CHECK-LABEL: func.func @known_region
// CHECK-NOT:     scf.if
func.func @known_region() -> i32 {
  %t = arith.constant true
  %r = scf.if %t -> i32 {
    %c = arith.constant 3 : i32
    scf.yield %c : i32
  } else {
    %c = arith.constant 4 : i32
    scf.yield %c : i32
  }
  return %r : i32
}

// Operations of stablehlo do not fold, and its regions are opaque.
// CHECK-LABEL: func.func @stablehlo
// CHECK:         %[[ADD:.*]] = stablehlo.add %c, %c : tensor<i32>
// CHECK:         stablehlo.while
// CHECK:           stablehlo.add %iterArg, %c : tensor<i32>
func.func @stablehlo(%n: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  %1 = stablehlo.add %0, %0 : tensor<i32>
  %2 = stablehlo.while(%i = %1) : tensor<i32>
  cond {
    %3 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %4 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %4 : tensor<i32>
  }
  return %2 : tensor<i32>
}

// -----

// All calls of a private function are known: %x is 3 in all of them, %y is not constant. On a function alone,
// nothing is known of its arguments and of calls.
// CHECK-LABEL: func.func private @callee
// CHECK:         %[[SIX:.*]] = arith.constant 6 : i32
// CHECK:         return %[[SIX]], %{{.*}} : i32, i32
// FUNC-LABEL: func.func private @callee
// FUNC:         arith.addi %arg0, %arg0
func.func private @callee(%x: i32, %y: i32) -> (i32, i32) {
  %0 = arith.addi %x, %x : i32
  %1 = arith.addi %y, %y : i32
  return %0, %1 : i32, i32
}

// Nothing calls it, so nothing in it is known.
// CHECK-LABEL: func.func private @uncalled
// CHECK:         arith.addi %{{.*}}, %{{.*}} : i32
// FUNC-LABEL: func.func private @uncalled
// FUNC:         return %c6_i32 : i32
func.func private @uncalled() -> i32 {
  %c = arith.constant 3 : i32
  %0 = arith.addi %c, %c : i32
  return %0 : i32
}

// Something other than a call refers to it.
// CHECK-LABEL: func.func private @referenced
// CHECK:         arith.addi %arg0, %arg0 : i32
func.func private @referenced(%x: i32) -> i32 {
  %0 = arith.addi %x, %x : i32
  return %0 : i32
}

// A function whose calls do not return: no operation with the result is executed.
// CHECK-LABEL: func.func @endless
// CHECK:         arith.cmpi eq
// CHECK:       ^bb1
// CHECK:         arith.addi %{{.*}}, %{{.*}} : i32
func.func @endless(%a: i32) -> i32 {
  %0 = call @endless(%a) : (i32) -> i32
  %c = arith.constant 1 : i32
  %1 = arith.cmpi eq, %c, %a : i32
  cf.cond_br %1, ^b(%0 : i32), ^b(%a : i32)
^b(%x: i32):
  %d = arith.constant 1 : i32
  %2 = arith.addi %d, %d : i32
  return %0 : i32
}

// CHECK-LABEL: func.func @main
// CHECK:         %[[SIX:.*]] = arith.constant 6 : i32
// CHECK:         call @callee
// CHECK:         %[[F:.*]] = call @referenced
// CHECK:         return %[[SIX]], %[[F]] : i32, i32
// FUNC-LABEL: func.func @main
// FUNC:         call @callee
// FUNC:         %[[CALL:.*]]:2 = call @callee
// FUNC:         return %[[CALL]]#0
func.func @main(%a: i32) -> (i32, i32) attributes {test.used = @referenced} {
  %c = arith.constant 3 : i32
  %0, %1 = call @callee(%c, %c) : (i32, i32) -> (i32, i32)
  %2, %3 = call @callee(%c, %a) : (i32, i32) -> (i32, i32)
  %4 = call @referenced(%c) : (i32) -> i32
  return %2, %4 : i32, i32
}
