// RUN: sdy-opt %s | filecheck %s --check-prefix=SAME
// RUN: sdy-opt %s -canonicalize | filecheck %s

// SAME-LABEL: func.func @operations
func.func @operations(%a: tensor<6x4xf32>, %p: tensor<6x4xi1>, %i: tensor<6x4xi32>, %m: tensor<1x4x6xf32>, %n: tensor<1x6x8xf32>) {
  // SAME-NEXT: tosa.add %arg0, %arg0 : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  %0 = tosa.add %a, %a : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  // SAME-NEXT: tosa.mul %arg0, %arg0 {shift = 0 : i8}
  %1 = tosa.mul %a, %a {shift = 0 : i8} : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  // SAME-NEXT: tosa.arithmetic_right_shift %arg2, %arg2 {round = false}
  %2 = tosa.arithmetic_right_shift %i, %i {round = false} : (tensor<6x4xi32>, tensor<6x4xi32>) -> tensor<6x4xi32>
  // SAME-NEXT: tosa.select %arg1, %arg0, %arg0
  %3 = tosa.select %p, %a, %a : (tensor<6x4xi1>, tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  // SAME-NEXT: tosa.greater %arg0, %arg0 : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xi1>
  %4 = tosa.greater %a, %a : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xi1>
  // SAME-NEXT: tosa.matmul %arg3, %arg4 : (tensor<1x4x6xf32>, tensor<1x6x8xf32>) -> tensor<1x4x8xf32>
  %5 = tosa.matmul %m, %n : (tensor<1x4x6xf32>, tensor<1x6x8xf32>) -> tensor<1x4x8xf32>
  return
}

// Idempotent operations and inverses fold.
// CHECK-LABEL: func.func @folds
func.func @folds(%a: tensor<6x4xf32>, %p: tensor<6x4xi1>) -> (tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = tosa.abs %arg0
  // CHECK-NEXT: return %[[A]], %arg0, %arg0
  %0 = tosa.abs %a : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %1 = tosa.abs %0 : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %2 = tosa.log %a : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %3 = tosa.exp %2 : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %4 = tosa.select %p, %a, %a : (tensor<6x4xi1>, tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  return %1, %3, %4 : tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>
}
