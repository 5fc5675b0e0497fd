// RUN: sdy-opt %s -sdy-populate-op-sharding-rules -split-input-file -verify-diagnostics

// A run warns about the first unknown custom call, and about the first other unknown operation.
func.func @unknown(%a: tensor<8xf32>) {
  // expected-warning @+1 {{custom call @rotate is unknown to SDY sharding rule registry}}
  %0 = stablehlo.custom_call @rotate(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.custom_call @wrap(%a) : (tensor<8xf32>) -> tensor<8xf32>
  // expected-warning @+1 {{op 'chlo.erf' is unknown to SDY sharding rule registry}}
  %2 = chlo.erf %a : tensor<8xf32> -> tensor<8xf32>
  %3 = chlo.tan %a : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

// The warnings are counted per run, not per module.
func.func @unknown_as_well(%a: tensor<8xf32>) {
  %0 = stablehlo.custom_call @wrap(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// Dynamic sizes have no factors.
func.func @dynamic(%a: tensor<?x4xf32>) {
  // expected-error @+1 {{'stablehlo.sine' op operand - expected a ranked tensor with a static shape. type: 'tensor<?x4xf32>'}}
  %0 = stablehlo.sine %a : tensor<?x4xf32>
  return
}

// -----

// Operands and results that must be sharded alike differ in rank.
func.func @not_alike(%a: tensor<8x4xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op operand - expecting factor indices to be within 0<=...<num_factors; received: 1, num_factors: 1}}
  %0 = stablehlo.custom_call @MoveToHost(%a) : (tensor<8x4xf32>) -> tensor<8xf32>
  return
}

// -----

// A token is not a tensor, so it has no mapping.
func.func @token(%a: tensor<8xf32>, %token: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.custom_call' op operand 1 - expected a ranked tensor with a static shape. type: '!stablehlo.token'}}
  %0 = stablehlo.custom_call @MoveToHost(%a, %token) : (tensor<8xf32>, !stablehlo.token) -> tensor<8xf32>
  return
}
