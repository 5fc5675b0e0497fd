// RUN: sdy-opt %s | filecheck %s
// RUN: sdy-opt %s -mlir-print-op-generic | filecheck %s --check-prefix=GENERIC
// RUN: sdy-opt %s --emit-bytecode -o %t.bc
// RUN: sdy-opt %t.bc | filecheck %s
// RUN: sdy-opt %s -canonicalize | filecheck %s --check-prefix=FOLD

// CHECK-LABEL: @modes
// CHECK-NEXT:  arith.addf %arg0, %arg0 upward : f32
// CHECK-NEXT:  arith.mulf %arg0, %{{.*}} to_nearest_even fastmath<fast> : f32
// CHECK-NEXT:  arith.subf %arg0, %{{.*}} toward_zero {x} : f32
// CHECK-NEXT:  arith.subf %arg0, %{{.*}} downward : f32
// CHECK-NEXT:  arith.addf %arg0, %{{.*}} to_nearest_away : f32
// CHECK-NEXT:  arith.addf %arg0, %{{.*}} : f32
// GENERIC:      "arith.addf"(%arg0, %arg0) <{fastmath = #arith.fastmath<none>, roundingmode = 2 : i32}>
// GENERIC-NEXT: "arith.mulf"(%arg0, %{{.*}}) <{fastmath = #arith.fastmath<fast>, roundingmode = 0 : i32}>
func.func @modes(%a: f32) -> f32 {
  %0 = arith.addf %a, %a upward : f32
  %1 = arith.mulf %a, %0 to_nearest_even fastmath<fast> : f32
  %2 = arith.subf %a, %1 toward_zero {x} : f32
  %3 = arith.subf %a, %2 downward fastmath<none> : f32
  %4 = arith.addf %a, %3 to_nearest_away : f32
  %5 = arith.addf %a, %4 : f32
  return %5 : f32
}

// Constants are folded if the result is rounded to nearest even, and neutral ones in every mode.
// FOLD-LABEL: @folds
// FOLD:       %[[NEAREST:.*]] = arith.constant 0.110000007 : f32
// FOLD:       %[[SUM:.*]] = arith.addf %{{.*}}, %{{.*}} upward : f32
// FOLD-NEXT:  return %[[SUM]], %[[NEAREST]] : f32, f32
func.func @folds() -> (f32, f32) {
  %a = arith.constant 1.1 : f32
  %b = arith.constant 0.1 : f32
  %zero = arith.constant -0.0 : f32
  %0 = arith.addf %a, %b upward : f32
  %1 = arith.addf %0, %zero upward : f32
  %2 = arith.mulf %a, %b to_nearest_even : f32
  return %1, %2 : f32, f32
}
