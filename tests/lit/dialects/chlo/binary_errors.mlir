// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @operands(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error @+1 {{'chlo.zeta' op requires compatible types for all operands and results}}
  %0 = chlo.zeta %x, %y : tensor<4xf32>, tensor<5xf32> -> tensor<4xf32>
  return
}
