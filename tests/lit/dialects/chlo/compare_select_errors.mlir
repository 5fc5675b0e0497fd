// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @branches(%p: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @+2 {{mismatched operand types}}
  // expected-error @+1 {{'chlo.broadcast_select' op failed to infer returned types}}
  %0 = chlo.broadcast_select %p, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  return
}

// -----

func.func @direction_of_another_dialect(%x: tensor<4xf32>) {
  // expected-error @+1 {{attribute 'comparison_direction' failed to satisfy constraint: Which comparison operation to perform.}}
  %0 = chlo.broadcast_compare %x, %x {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return
}
