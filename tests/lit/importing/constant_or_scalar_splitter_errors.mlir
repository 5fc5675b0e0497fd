// RUN: sdy-opt %s -sdy-constant-or-scalar-splitter -split-input-file -verify-diagnostics

// A recursive function cannot be cloned with its callees.
func.func private @recursive(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = func.call @recursive(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.iota dim = 0 : tensor<8xf32>
  // expected-error @+1 {{its calls are recursive}}
  %1 = func.call @recursive(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = stablehlo.add %a, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}
