// RUN: sdy-opt %s -split-input-file -verify-diagnostics

// Attributes, types and tokens are those of mhlo.
func.func @token(%a: !stablehlo.token) {
  // expected-error @+1 {{'mhlo.after_all' op operand #0 must be variadic of token, but got '!stablehlo.token'}}
  %0 = mhlo.after_all %a : !stablehlo.token
  return
}

// -----

func.func @token_of_mhlo(%a: !mhlo.token) {
  // expected-error @+1 {{'stablehlo.after_all' op operand #0 must be variadic of token, but got '!mhlo.token'}}
  %0 = stablehlo.after_all %a : !mhlo.token
  return
}

// -----

func.func @dot(%a: tensor<2x2xf32>) {
  // expected-error @+1 {{'stablehlo.dot_general' op attribute 'dot_dimension_numbers' failed to satisfy constraint}}
  %0 = "stablehlo.dot_general"(%a, %a) {dot_dimension_numbers = #mhlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @rank(%a: tensor<3xi32>) {
  // expected-error @+2 {{'mhlo.broadcast' op failed to infer returned types}}
  // expected-error @+1 {{broadcast_sizes has rank 2 instead of required rank 1.}}
  %0 = "mhlo.broadcast"(%a) {broadcast_sizes = dense<[[1, 2]]> : tensor<1x2xi64>} : (tensor<3xi32>) -> tensor<1x2x3xi32>
  return
}

// -----

func.func @form(%a: tensor<3xi32>) {
  // expected-error @+1 {{custom op 'mhlo.fusion' has no custom assembly form}}
  %0 = mhlo.fusion %a : tensor<3xi32>
  return
}

// -----

func.func @no_callee(%a: tensor<3xi32>) {
  // expected-error @+1 {{can't find function: f}}
  %0 = "mhlo.async_start"(%a) {called_computation = @f, execution_thread = "main"} : (tensor<3xi32>) -> !mhlo.async_bundle<tensor<3xi32>, tensor<3xi32>>
  return
}

// -----

func.func private @f(tensor<3xi32>) -> tensor<3xi32>
func.func @no_thread(%a: tensor<3xi32>) {
  // expected-error @+1 {{callee must have execution_thread attribute.}}
  %0 = "mhlo.async_start"(%a) {called_computation = @f, execution_thread = "main"} : (tensor<3xi32>) -> !mhlo.async_bundle<tensor<3xi32>, tensor<3xi32>>
  return
}

// -----

func.func private @f(tensor<3xi32>) -> tensor<3xi32> attributes {execution_thread = "main"}
func.func @result(%a: tensor<3xi32>) {
  %0 = "mhlo.async_start"(%a) {called_computation = @f, execution_thread = "main"} : (tensor<3xi32>) -> !mhlo.async_bundle<tensor<3xi32>, tensor<3xi32>>
  // expected-error @+2 {{'mhlo.async_done' op failed to infer returned types}}
  // expected-error @+1 {{inferred type(s) 'tensor<3xi32>' are incompatible with return type(s) of operation 'tensor<i32>'}}
  %1 = "mhlo.async_done"(%0) : (!mhlo.async_bundle<tensor<3xi32>, tensor<3xi32>>) -> tensor<i32>
  return
}

// -----

// expected-error @+1 {{attribute "mhlo.a" result index is out of range, must be <0}}
func.func @alias(%a: tensor<3xi32> {mhlo.a = #mhlo.result_alias<result_index = [0]>}) {
  return
}

// -----

// expected-error @+1 {{cross_program_prefetch: parameter 1 out of range. main has only 1 arguments}}
module attributes {mhlo.cross_program_prefetches = [#mhlo.cross_program_prefetch<parameter = 1, indices = [], offset = 0>]} {
  func.func @main(%a: tensor<3xi32>) {
    return
  }
}
