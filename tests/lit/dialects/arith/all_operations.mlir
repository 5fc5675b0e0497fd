// RUN: sdy-opt %s --mesh-version=22 | filecheck %s

// The syntax of the operations that fold little.

func.func @f(%i: i32, %j: i64, %x: f32, %h: f16, %b: i1, %t: tensor<4xi32>, %tb: tensor<4xi1>, %vx: vector<4xf32>, %idx: index) {
  %0 = arith.subi %i, %i overflow<nsw> : i32
  %1 = arith.divsi %i, %i : i32
  %b1 = arith.divsi %i, %i exact : i32
  %c1 = arith.divui %i, %i exact : i32
  %2 = arith.ceildivsi %i, %i : i32
  %3 = arith.shli %i, %i overflow<nsw> : i32
  %4 = arith.shrui %i, %i exact : i32
  %5 = arith.divf %x, %x fastmath<fast> : f32
  %6 = arith.remf %x, %x : f32
  %7 = arith.extsi %i : i32 to i64
  %8 = arith.trunci %j overflow<nuw> : i64 to i32
  %9 = arith.extf %h : f16 to f32
  %b9 = arith.extf %h fastmath<nnan> : f16 to f32
  %10 = arith.truncf %x to_nearest_even : f32 to f16
  %b10 = arith.truncf %x : f32 to f16
  %11 = arith.sitofp %i : i32 to f32
  %12 = arith.uitofp %i nneg : i32 to f32
  %13 = arith.fptosi %x : f32 to i32
  %14 = arith.bitcast %x : f32 to i32
  %15 = arith.index_castui %idx nneg : index to i32
  %16 = arith.select %b, %i, %i : i32
  %17 = arith.select %tb, %t, %t : tensor<4xi1>, tensor<4xi32>
  %18 = arith.select %b, %t, %t : tensor<4xi32>
  %19 = arith.cmpf oeq, %x, %x fastmath<nnan> : f32
  %20, %21 = arith.addui_extended %i, %i : i32, i1
  %22, %23 = arith.mulsi_extended %t, %t : tensor<4xi32>
  %25 = arith.andi %b, %b : i1
  return
}

// CHECK: module {
// CHECK-NEXT: func.func @f(%arg0: i32, %arg1: i64, %arg2: f32, %arg3: f16, %arg4: i1, %arg5: tensor<4xi32>, %arg6: tensor<4xi1>, %arg7: vector<4xf32>, %arg8: index) {
// CHECK-NEXT: %0 = arith.subi %arg0, %arg0 overflow<nsw> : i32
// CHECK-NEXT: %1 = arith.divsi %arg0, %arg0 : i32
// CHECK-NEXT: %2 = arith.divsi %arg0, %arg0 exact : i32
// CHECK-NEXT: %3 = arith.divui %arg0, %arg0 exact : i32
// CHECK-NEXT: %4 = arith.ceildivsi %arg0, %arg0 : i32
// CHECK-NEXT: %5 = arith.shli %arg0, %arg0 overflow<nsw> : i32
// CHECK-NEXT: %6 = arith.shrui %arg0, %arg0 exact : i32
// CHECK-NEXT: %7 = arith.divf %arg2, %arg2 fastmath<fast> : f32
// CHECK-NEXT: %8 = arith.remf %arg2, %arg2 : f32
// CHECK-NEXT: %9 = arith.extsi %arg0 : i32 to i64
// CHECK-NEXT: %10 = arith.trunci %arg1 overflow<nuw> : i64 to i32
// CHECK-NEXT: %11 = arith.extf %arg3 : f16 to f32
// CHECK-NEXT: %12 = arith.extf %arg3 fastmath<nnan> : f16 to f32
// CHECK-NEXT: %13 = arith.truncf %arg2 to_nearest_even : f32 to f16
// CHECK-NEXT: %14 = arith.truncf %arg2 : f32 to f16
// CHECK-NEXT: %15 = arith.sitofp %arg0 : i32 to f32
// CHECK-NEXT: %16 = arith.uitofp %arg0 nneg : i32 to f32
// CHECK-NEXT: %17 = arith.fptosi %arg2 : f32 to i32
// CHECK-NEXT: %18 = arith.bitcast %arg2 : f32 to i32
// CHECK-NEXT: %19 = arith.index_castui %arg8 nneg : index to i32
// CHECK-NEXT: %20 = arith.select %arg4, %arg0, %arg0 : i32
// CHECK-NEXT: %21 = arith.select %arg6, %arg5, %arg5 : tensor<4xi1>, tensor<4xi32>
// CHECK-NEXT: %22 = arith.select %arg4, %arg5, %arg5 : tensor<4xi32>
// CHECK-NEXT: %23 = arith.cmpf oeq, %arg2, %arg2 fastmath<nnan> : f32
// CHECK-NEXT: %sum, %overflow = arith.addui_extended %arg0, %arg0 : i32, i1
// CHECK-NEXT: %low, %high = arith.mulsi_extended %arg5, %arg5 : tensor<4xi32>
// CHECK-NEXT: %24 = arith.andi %arg4, %arg4 : i1
// CHECK-NEXT: return
// CHECK-NEXT: }
// CHECK-NEXT: }
