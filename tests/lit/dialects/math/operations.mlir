// RUN: sdy-opt %s  | filecheck %s

// The syntax of the operations of math.

func.func @f(%i: i32, %x: f32, %t: tensor<4xf32>, %ti: tensor<4xi32>) {
  %0 = math.absi %i : i32
  %1 = math.ctpop %ti : tensor<4xi32>
  %2 = math.isnan %x {foo} : f32
  %3 = math.isinf %t : tensor<4xf32>
  %4 = math.powf %x, %x fastmath<nnan> : f32
  %5 = math.fpowi %x, %i : f32, i32
  %6 = math.ipowi %i, %i : i32
  %7 = math.fma %x, %x, %x upward : f32
  %8 = math.clampf %x to [%x, %x] fastmath<nnan> : f32
  %9, %10 = math.sincos %x : f32
  %11 = math.copysign %x, %x : f32
  %12 = math.floor %t : tensor<4xf32>
  return
}

// CHECK: module {
// CHECK-NEXT: func.func @f(%arg0: i32, %arg1: f32, %arg2: tensor<4xf32>, %arg3: tensor<4xi32>) {
// CHECK-NEXT: %0 = math.absi %arg0 : i32
// CHECK-NEXT: %1 = math.ctpop %arg3 : tensor<4xi32>
// CHECK-NEXT: %2 = math.isnan %arg1 {foo} : f32
// CHECK-NEXT: %3 = math.isinf %arg2 : tensor<4xf32>
// CHECK-NEXT: %4 = math.powf %arg1, %arg1 fastmath<nnan> : f32
// CHECK-NEXT: %5 = math.fpowi %arg1, %arg0 : f32, i32
// CHECK-NEXT: %6 = math.ipowi %arg0, %arg0 : i32
// CHECK-NEXT: %7 = math.fma %arg1, %arg1, %arg1 upward : f32
// CHECK-NEXT: %8 = math.clampf %arg1 to [%arg1, %arg1] fastmath<nnan> : f32
// CHECK-NEXT: %sin, %cos = math.sincos %arg1 : f32
// CHECK-NEXT: %9 = math.copysign %arg1, %arg1 : f32
// CHECK-NEXT: %10 = math.floor %arg2 : tensor<4xf32>
// CHECK-NEXT: return
// CHECK-NEXT: }
// CHECK-NEXT: }
