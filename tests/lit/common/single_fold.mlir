// RUN: sdy-opt %s --test-single-fold | filecheck %s

// Each operation is folded once, from the last to the first.

func.func @main(%b: i1, %x: i32) -> (i32, index) {
  %c = arith.constant 2 : i32
  %0 = arith.addi %c, %c : i32
  %1 = arith.addi %0, %c : i32
  %2 = arith.addi %c, %x : i32
  %t = tensor.empty() : tensor<4x8xf32>
  %one = arith.constant 1 : index
  %3 = tensor.dim %t, %one : tensor<4x8xf32>
  %4 = arith.select %b, %1, %1 : i32
  return %4, %3 : i32, index
}

// CHECK: module {
// CHECK-NEXT: func.func @main(%arg0: i1, %arg1: i32) -> (i32, index) {
// CHECK-NEXT: %c2_i32 = arith.constant 2 : i32
// CHECK-NEXT: %c4_i32 = arith.constant 4 : i32
// CHECK-NEXT: %c8 = arith.constant 8 : index
// CHECK-NEXT: %0 = arith.addi %c4_i32, %c2_i32 : i32
// CHECK-NEXT: %1 = arith.addi %arg1, %c2_i32 : i32
// CHECK-NEXT: %2 = tensor.empty() : tensor<4x8xf32>
// CHECK-NEXT: return %0, %c8 : i32, index
// CHECK-NEXT: }
// CHECK-NEXT: }
