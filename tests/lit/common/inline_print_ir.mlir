// RUN: sdy-opt %s -inline -mlir-print-ir-after=canonicalize 2>&1 | filecheck %s

// The passes of the default pipeline are instrumented: the callee is simplified before it is inlined, the caller
// before and after.
// CHECK-COUNT-3: IR Dump After CanonicalizerPass: canonicalize
// CHECK-NOT:     IR Dump
func.func private @callee(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.add %a, %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func @caller(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @callee(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
