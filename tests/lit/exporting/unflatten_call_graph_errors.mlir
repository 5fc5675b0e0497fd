// RUN: sdy-opt %s -split-input-file -sdy-unflatten-call-graph -verify-diagnostics

// The types of copies are not compared; the verifier reports a mismatch.
func.func @liars(%a: tensor<8xf32>, %b: tensor<4xf32>) {
  %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  // expected-error @+1 {{operand type mismatch: expected operand type 'tensor<8xf32>', but provided 'tensor<4xf32>' for operand number 0}}
  %1 = call @g(%b) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func private @f(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
func.func private @g(%a: tensor<4xf32>) -> tensor<4xf32> attributes {sdy.original_func_name = "f"} {
  return %a : tensor<4xf32>
}
