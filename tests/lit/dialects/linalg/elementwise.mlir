// RUN: sdy-opt %s --mlir-print-op-generic | filecheck %s

// The body of an elementwise operation depends on the type of its elements.

func.func @main(%a: tensor<4xf32>, %s: f32, %i: tensor<4xi32>, %b: tensor<4xi1>) {
  %0 = linalg.exp ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg.add ins(%a, %s : tensor<4xf32>, f32) outs(%a : tensor<4xf32>) -> tensor<4xf32>
  %2 = linalg.mul {foo} ins(%b, %b : tensor<4xi1>, tensor<4xi1>) outs(%b : tensor<4xi1>) -> tensor<4xi1>
  %3 = linalg.div_unsigned ins(%i, %i : tensor<4xi32>, tensor<4xi32>) outs(%i : tensor<4xi32>) -> tensor<4xi32>
  %4 = linalg.reciprocal ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) -> tensor<4xf32>
  %5 = linalg.square ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) -> tensor<4xf32>
  %6 = linalg.copy ins(%i : tensor<4xi32>) outs(%i : tensor<4xi32>) -> tensor<4xi32>
  %7 = linalg.select ins(%b, %a, %a : tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) outs(%a : tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK: "builtin.module"() ({
// CHECK-NEXT: "func.func"() <{function_type = (tensor<4xf32>, f32, tensor<4xi32>, tensor<4xi1>) -> (), sym_name = "main"}> ({
// CHECK-NEXT: ^bb0(%arg0: tensor<4xf32>, %arg1: f32, %arg2: tensor<4xi32>, %arg3: tensor<4xi1>):
// CHECK-NEXT: %0 = "linalg.exp"(%arg0, %arg0) <{operandSegmentSizes = array<i32: 1, 1>}> ({
// CHECK-NEXT: ^bb0(%arg23: f32, %arg24: f32):
// CHECK-NEXT: %15 = "math.exp"(%arg23) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
// CHECK-NEXT: "linalg.yield"(%15) : (f32) -> ()
// CHECK-NEXT: }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %1 = "linalg.add"(%arg0, %arg1, %arg0) <{operandSegmentSizes = array<i32: 2, 1>}> ({
// CHECK-NEXT: ^bb0(%arg20: f32, %arg21: f32, %arg22: f32):
// CHECK-NEXT: %14 = "arith.addf"(%arg20, %arg21) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
// CHECK-NEXT: "linalg.yield"(%14) : (f32) -> ()
// CHECK-NEXT: }) : (tensor<4xf32>, f32, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %2 = "linalg.mul"(%arg3, %arg3, %arg3) <{operandSegmentSizes = array<i32: 2, 1>}> ({
// CHECK-NEXT: ^bb0(%arg17: i1, %arg18: i1, %arg19: i1):
// CHECK-NEXT: %13 = "arith.andi"(%arg17, %arg18) : (i1, i1) -> i1
// CHECK-NEXT: "linalg.yield"(%13) : (i1) -> ()
// CHECK-NEXT: }) {foo} : (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
// CHECK-NEXT: %3 = "linalg.div_unsigned"(%arg2, %arg2, %arg2) <{operandSegmentSizes = array<i32: 2, 1>}> ({
// CHECK-NEXT: ^bb0(%arg14: i32, %arg15: i32, %arg16: i32):
// CHECK-NEXT: %12 = "arith.divui"(%arg14, %arg15) : (i32, i32) -> i32
// CHECK-NEXT: "linalg.yield"(%12) : (i32) -> ()
// CHECK-NEXT: }) : (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
// CHECK-NEXT: %4 = "linalg.reciprocal"(%arg0, %arg0) <{operandSegmentSizes = array<i32: 1, 1>}> ({
// CHECK-NEXT: ^bb0(%arg12: f32, %arg13: f32):
// CHECK-NEXT: %10 = "arith.constant"() <{value = 1.000000e+00 : f32}> : () -> f32
// CHECK-NEXT: %11 = "arith.divf"(%10, %arg12) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
// CHECK-NEXT: "linalg.yield"(%11) : (f32) -> ()
// CHECK-NEXT: }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %5 = "linalg.square"(%arg0, %arg0) <{operandSegmentSizes = array<i32: 1, 1>}> ({
// CHECK-NEXT: ^bb0(%arg10: f32, %arg11: f32):
// CHECK-NEXT: %9 = "arith.mulf"(%arg10, %arg10) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
// CHECK-NEXT: "linalg.yield"(%9) : (f32) -> ()
// CHECK-NEXT: }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %6 = "linalg.copy"(%arg2, %arg2) <{operandSegmentSizes = array<i32: 1, 1>}> ({
// CHECK-NEXT: ^bb0(%arg8: i32, %arg9: i32):
// CHECK-NEXT: "linalg.yield"(%arg8) : (i32) -> ()
// CHECK-NEXT: }) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
// CHECK-NEXT: %7 = "linalg.select"(%arg3, %arg0, %arg0, %arg0) <{operandSegmentSizes = array<i32: 3, 1>}> ({
// CHECK-NEXT: ^bb0(%arg4: i1, %arg5: f32, %arg6: f32, %arg7: f32):
// CHECK-NEXT: %8 = "arith.select"(%arg4, %arg5, %arg6) : (i1, f32, f32) -> f32
// CHECK-NEXT: "linalg.yield"(%8) : (f32) -> ()
// CHECK-NEXT: }) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: "func.return"() : () -> ()
// CHECK-NEXT: }) : () -> ()
// CHECK-NEXT: }) : () -> ()
