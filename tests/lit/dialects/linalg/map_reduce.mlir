// RUN: sdy-opt %s  | filecheck %s

// The short form of a body is used where it can be.

func.func @f(%a: tensor<4x8xf32>, %b: tensor<4xf32>, %c: tensor<8x4xf32>, %d: tensor<4x8x2xf32>) {
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<4x8xf32>) outs(%b : tensor<4xf32>) dimensions = [1] {foo}
  %1 = linalg.reduce ins(%a : tensor<4x8xf32>) outs(%b : tensor<4xf32>) dimensions = [1] (%in: f32, %out: f32) {
    %x = arith.addf %out, %in : f32
    linalg.yield %x : f32
  }
  %2 = linalg.reduce ins(%a : tensor<4x8xf32>) outs(%b : tensor<4xf32>) dimensions = [1] (%in: f32, %out: f32) {
    %x = arith.addf %in, %out : f32
    linalg.yield %x : f32
  }
  %3 = linalg.reduce { arith.addf {fastmath = #arith.fastmath<fast>} } ins(%a : tensor<4x8xf32>) outs(%b : tensor<4xf32>) dimensions = [1]
  %4 = linalg.transpose ins(%a : tensor<4x8xf32>) outs(%c : tensor<8x4xf32>) permutation = [1, 0] {foo}
  %5 = linalg.broadcast ins(%a : tensor<4x8xf32>) outs(%d : tensor<4x8x2xf32>) dimensions = [2]
  %6 = linalg.map { math.exp } ins(%a : tensor<4x8xf32>) outs(%a : tensor<4x8xf32>)
  %7 = linalg.map ins(%a, %a : tensor<4x8xf32>, tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) (%p: f32, %q: f32, %o: f32) {
    %x = arith.mulf %p, %p : f32
    linalg.yield %x : f32
  }
  %8:2 = linalg.reduce ins(%a, %a : tensor<4x8xf32>, tensor<4x8xf32>) outs(%b, %b : tensor<4xf32>, tensor<4xf32>) dimensions = [1] (%i: f32, %j: f32, %k: f32, %l: f32) {
    linalg.yield %i, %j : f32, f32
  }
  %9 = linalg.map { arith.addf } ins(%a, %a : tensor<4x8xf32>, tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) {foo}
  return
}

// CHECK: module {
// CHECK-NEXT: func.func @f(%arg0: tensor<4x8xf32>, %arg1: tensor<4xf32>, %arg2: tensor<8x4xf32>, %arg3: tensor<4x8x2xf32>) {
// CHECK-NEXT: %reduced = linalg.reduce { arith.addf } ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4xf32>) dimensions = [1]  {foo}
// CHECK-NEXT: %reduced_0 = linalg.reduce { arith.addf } ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4xf32>) dimensions = [1]
// CHECK-NEXT: %reduced_1 = linalg.reduce ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4xf32>) dimensions = [1]
// CHECK-NEXT: (%in: f32, %init: f32) {
// CHECK-NEXT: %0 = arith.addf %in, %init : f32
// CHECK-NEXT: linalg.yield %0 : f32
// CHECK-NEXT: }
// CHECK-NEXT: %reduced_2 = linalg.reduce { arith.addf {fastmath = #arith.fastmath<fast>} } ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<4xf32>) dimensions = [1]
// CHECK-NEXT: %transposed = linalg.transpose ins(%arg0 : tensor<4x8xf32>) outs(%arg2 : tensor<8x4xf32>) permutation = [1, 0]  {foo}
// CHECK-NEXT: %broadcasted = linalg.broadcast ins(%arg0 : tensor<4x8xf32>) outs(%arg3 : tensor<4x8x2xf32>) dimensions = [2]
// CHECK-NEXT: %mapped = linalg.map { math.exp } ins(%arg0 : tensor<4x8xf32>) outs(%arg0 : tensor<4x8xf32>)
// CHECK-NEXT: %mapped_3 = linalg.map ins(%arg0, %arg0 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%arg0 : tensor<4x8xf32>)
// CHECK-NEXT: (%in: f32, %in_6: f32, %init: f32) {
// CHECK-NEXT: %0 = arith.mulf %in, %in : f32
// CHECK-NEXT: linalg.yield %0 : f32
// CHECK-NEXT: }
// CHECK-NEXT: %reduced_4:2 = linalg.reduce ins(%arg0, %arg0 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%arg1, %arg1 : tensor<4xf32>, tensor<4xf32>) dimensions = [1]
// CHECK-NEXT: (%in: f32, %in_6: f32, %init: f32, %init_7: f32) {
// CHECK-NEXT: linalg.yield %in, %in_6 : f32, f32
// CHECK-NEXT: }
// CHECK-NEXT: %mapped_5 = linalg.map { arith.addf } ins(%arg0, %arg0 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%arg0 : tensor<4x8xf32>) {foo}
// CHECK-NEXT: return
// CHECK-NEXT: }
// CHECK-NEXT: }
