// RUN: not sdy-opt %s 2>&1 | filecheck %s --check-prefix=ERROR
// RUN: sdy-opt %s -mlir-very-unsafe-disable-verifier-on-parsing | filecheck %s
// RUN: sdy-opt %s -mlir-very-unsafe-disable-verifier-on-parsing -cse | filecheck %s --check-prefix=CSE

// Without the verifier, an invalid program is read, and printed in the generic form. A pass may make it valid.

// ERROR: error: 'arith.addf' op requires the same type for all operands and results
// CHECK: "builtin.module"() ({
// CHECK: "arith.addf"(%arg0, %arg0) <{fastmath = #arith.fastmath<none>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<5xf32>
// CSE: func.func @f(%arg0: tensor<4xf32>) -> tensor<4xf32> {
// CSE-NEXT: return %arg0 : tensor<4xf32>
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "arith.addf"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<5xf32>
  return %a : tensor<4xf32>
}
