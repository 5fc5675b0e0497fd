// RUN: sdy-opt %s -canonicalize | filecheck %s

// Constants fold, in tensors too, and move to the right.
// CHECK-LABEL: func.func @constants
func.func @constants(%i: index) -> (i32, tensor<2xi32>, index, f32) {
  // CHECK-DAG: %[[SEVEN:.*]] = arith.constant 7 : i32
  // CHECK-DAG: %[[T:.*]] = arith.constant dense<[4, 6]> : tensor<2xi32>
  // CHECK-DAG: %[[TWELVE:.*]] = arith.constant 12 : index
  // CHECK-DAG: %[[HALF:.*]] = arith.constant 1.500000e+00 : f32
  // CHECK: %[[M:.*]] = arith.muli %arg0, %[[TWELVE]] : index
  // CHECK-NEXT: return %[[SEVEN]], %[[T]], %[[M]], %[[HALF]]
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %0 = arith.addi %c3, %c4 : i32
  %t = arith.constant dense<[1, 2]> : tensor<2xi32>
  %u = arith.constant dense<[3, 4]> : tensor<2xi32>
  %1 = arith.addi %t, %u : tensor<2xi32>
  %x3 = arith.constant 3 : index
  %x4 = arith.constant 4 : index
  %2 = arith.muli %x4, %i : index
  %3 = arith.muli %2, %x3 : index
  %f1 = arith.constant 1.0 : f32
  %f2 = arith.constant 0.5 : f32
  %4 = arith.addf %f1, %f2 : f32
  return %0, %1, %3, %4 : i32, tensor<2xi32>, index, f32
}

// Neutral operands are removed. The neutral element of addf is the negative zero.
// CHECK-LABEL: func.func @neutral
func.func @neutral(%i: i32, %x: f32) -> (i32, i32, f32, f32, f32) {
  // CHECK: %[[A:.*]] = arith.addf %arg1, %{{.*}} : f32
  // CHECK-NEXT: return %arg0, %arg0, %[[A]], %arg1, %arg1
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %z = arith.constant 0.0 : f32
  %n = arith.constant -0.0 : f32
  %0 = arith.addi %i, %c0 : i32
  %1 = arith.divui %i, %c1 : i32
  %2 = arith.addf %x, %z : f32
  %3 = arith.addf %x, %n : f32
  %4 = arith.maximumf %x, %x : f32
  return %0, %1, %2, %3, %4 : i32, i32, f32, f32, f32
}

// A constant on the left of a comparison is swapped to the right.
// CHECK-LABEL: func.func @compare
func.func @compare(%i: index) -> (i1, i1) {
  // CHECK-DAG: %[[FALSE:.*]] = arith.constant false
  // CHECK: %[[C:.*]] = arith.cmpi ugt, %arg0, %c0 : index
  // CHECK-NEXT: return %[[C]], %[[FALSE]]
  %c0 = arith.constant 0 : index
  %0 = arith.cmpi ult, %c0, %i : index
  %1 = arith.cmpi slt, %i, %i : index
  return %0, %1 : i1, i1
}

// As a signed integer, true is -1.
// CHECK-LABEL: func.func @signed_i1
func.func @signed_i1(%b: i1) -> (i1, i1, i1, i1, i1) {
  // CHECK-DAG: %[[TRUE:.*]] = arith.constant true
  // CHECK-DAG: %[[FALSE:.*]] = arith.constant false
  // CHECK: return %[[TRUE]], %[[FALSE]], %[[FALSE]], %[[TRUE]], %arg0
  %true = arith.constant true
  %false = arith.constant false
  %0 = arith.cmpi slt, %true, %false : i1
  %1 = arith.cmpi ult, %true, %false : i1
  %2 = arith.maxsi %true, %false : i1
  %3 = arith.minsi %true, %false : i1
  %4 = arith.maxsi %b, %true : i1
  return %0, %1, %2, %3, %4 : i1, i1, i1, i1, i1
}

// The same in tensors.
// CHECK-LABEL: func.func @signed_i1_elements
func.func @signed_i1_elements() -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK-DAG: %[[LESS:.*]] = arith.constant dense<[false, false, true, false]> : tensor<4xi1>
  // CHECK-DAG: %[[MAX:.*]] = arith.constant dense<[true, false, false, false]> : tensor<4xi1>
  // CHECK: return %[[LESS]], %[[MAX]]
  %a = arith.constant dense<[true, false, true, false]> : tensor<4xi1>
  %b = arith.constant dense<[true, true, false, false]> : tensor<4xi1>
  %0 = arith.cmpi slt, %a, %b : tensor<4xi1>
  %1 = arith.maxsi %a, %b : tensor<4xi1>
  return %0, %1 : tensor<4xi1>, tensor<4xi1>
}

// Division by zero is not folded.
// CHECK-LABEL: func.func @by_zero
func.func @by_zero() -> i32 {
  // CHECK: arith.remui
  %c0 = arith.constant 0 : i32
  %c5 = arith.constant 5 : i32
  %0 = arith.remui %c5, %c0 : i32
  return %0 : i32
}

// A selection by the same condition skips the inner one, a negated condition exchanges the values, and what is
// selected by a comparison of it is a minimum or maximum.
// CHECK-LABEL: func.func @selections
func.func @selections(%c: i1, %a: i32, %b: i32, %d: i32) -> (i32, i32, i32, i32, i32, i32, i32, tensor<2xf32>) {
  // CHECK-DAG: %[[TRUE:.*]] = arith.constant true
  // CHECK-DAG: %[[ELEMENTS:.*]] = arith.constant dense<[1.000000e+00, 4.000000e+00]> : tensor<2xf32>
  // CHECK: %[[FIRST:.*]] = arith.select %arg0, %arg1, %arg3 : i32
  // CHECK-NEXT: %[[SECOND:.*]] = arith.select %arg0, %arg3, %arg2 : i32
  // CHECK-NEXT: %[[SWAPPED:.*]] = arith.select %arg0, %arg2, %arg1 : i32
  // CHECK-NEXT: %[[ONE:.*]] = arith.extui %arg0 : i1 to i32
  // CHECK-NEXT: %[[NEGATED:.*]] = arith.xori %arg0, %[[TRUE]] : i1
  // CHECK-NEXT: %[[ZERO:.*]] = arith.extui %[[NEGATED]] : i1 to i32
  // CHECK-NEXT: %[[MIN:.*]] = arith.minui %arg1, %arg2 : i32
  // CHECK-NEXT: %[[MAX:.*]] = arith.maxsi %arg1, %arg2 : i32
  // CHECK-NEXT: return %[[FIRST]], %[[SECOND]], %[[SWAPPED]], %[[ONE]], %[[ZERO]], %[[MIN]], %[[MAX]], %[[ELEMENTS]]
  %true = arith.constant true
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %0 = arith.select %c, %a, %b : i32
  %1 = arith.select %c, %0, %d : i32
  %2 = arith.select %c, %d, %0 : i32
  %n = arith.xori %c, %true : i1
  %3 = arith.select %n, %a, %b : i32
  %4 = arith.select %c, %one, %zero : i32
  %5 = arith.select %c, %zero, %one : i32
  %smaller = arith.cmpi ule, %a, %b : i32
  %6 = arith.select %smaller, %a, %b : i32
  %less = arith.cmpi slt, %a, %b : i32
  %7 = arith.select %less, %b, %a : i32
  %t = arith.constant dense<[true, false]> : tensor<2xi1>
  %x = arith.constant dense<1.0> : tensor<2xf32>
  %y = arith.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %8 = arith.select %t, %x, %y : tensor<2xi1>, tensor<2xf32>
  return %1, %2, %3, %4, %5, %6, %7, %8 : i32, i32, i32, i32, i32, i32, i32, tensor<2xf32>
}

// CHECK-LABEL: func.func @conditions
func.func @conditions(%c: i1) -> (i1, i1) {
  // CHECK-NEXT: %[[TRUE:.*]] = arith.constant true
  // CHECK-NEXT: %[[NEGATED:.*]] = arith.xori %arg0, %[[TRUE]] : i1
  // CHECK-NEXT: return %arg0, %[[NEGATED]] : i1, i1
  %true = arith.constant true
  %false = arith.constant false
  %0 = arith.select %c, %true, %false : i1
  %1 = arith.select %c, %false, %true : i1
  return %0, %1 : i1, i1
}
