// RUN: sdy-opt %s | filecheck %s
// RUN: sdy-opt %s | sdy-opt - | filecheck %s
// RUN: sdy-opt %s -mlir-print-op-generic | filecheck %s --check-prefix=GENERIC

// Constants have names; default flags are not printed.
// CHECK-LABEL: func.func @f
func.func @f(%a: i32, %b: i32, %x: f32, %y: f32, %t: tensor<4xi32>) {
  // CHECK-NEXT: arith.addi %arg0, %arg1 overflow<nsw, nuw> : i32
  // GENERIC: "arith.addi"({{.*}}) <{overflowFlags = #arith.overflow<nsw, nuw>}>
  %0 = arith.addi %a, %b overflow<nsw, nuw> : i32
  // CHECK-NEXT: arith.addf %arg2, %arg3 fastmath<nnan,ninf> {k} : f32
  %1 = arith.addf %x, %y fastmath<nnan,ninf> {k} : f32
  // CHECK-NEXT: arith.mulf %arg2, %arg3 fastmath<fast> : f32
  %2 = arith.mulf %x, %y fastmath<fast> : f32
  // CHECK-NEXT: arith.subf %arg2, %arg3 : f32
  // GENERIC: "arith.subf"({{.*}}) <{fastmath = #arith.fastmath<none>}>
  %3 = arith.subf %x, %y fastmath<none> : f32
  // CHECK-NEXT: arith.cmpi ult, %arg4, %arg4 : tensor<4xi32>
  // GENERIC: "arith.cmpi"({{.*}}) <{predicate = 6 : i64}> : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %4 = arith.cmpi ult, %t, %t : tensor<4xi32>
  // CHECK-NEXT: arith.negf %arg2 : f32
  %5 = arith.negf %x : f32
  // CHECK-NEXT: %c5_i32 = arith.constant {a = 1 : i64} 5 : i32
  %6 = arith.constant {a = 1} 5 : i32
  // CHECK-NEXT: %true = arith.constant true
  %7 = arith.constant true
  // CHECK-NEXT: %c-5 = arith.constant -5 : index
  %8 = arith.constant -5 : index
  // CHECK-NEXT: %cst = arith.constant dense<1> : tensor<4xi32>
  %9 = arith.constant dense<1> : tensor<4xi32>
  // CHECK-NEXT: arith.minnumf %arg2, %arg3 : f32
  %10 = arith.minnumf %x, %y : f32
  // CHECK-NEXT: arith.maxui %arg0, %arg1 : i32
  %11 = arith.maxui %a, %b : i32
  return
}

// The result of a comparison has the shape and the encoding of the operands.
// CHECK-LABEL: func.func @comparison_types
// CHECK-SAME: -> (tensor<4xi1, "encoding">, tensor<*xi1>)
func.func @comparison_types(
    %a: tensor<4xi32, "encoding">, %b: tensor<*xi32>) -> (tensor<4xi1, "encoding">, tensor<*xi1>) {
  // CHECK-NEXT: arith.cmpi eq, %arg0, %arg0 : tensor<4xi32, "encoding">
  %0 = arith.cmpi eq, %a, %a : tensor<4xi32, "encoding">
  // CHECK-NEXT: arith.cmpi eq, %arg1, %arg1 : tensor<*xi32>
  %1 = arith.cmpi eq, %b, %b : tensor<*xi32>
  return %0, %1 : tensor<4xi1, "encoding">, tensor<*xi1>
}
