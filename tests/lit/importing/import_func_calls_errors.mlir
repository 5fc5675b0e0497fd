// RUN: sdy-opt %s -sdy-import-func-calls -split-input-file -verify-diagnostics
// RUN: sdy-opt %s -sdy-import-func-calls -split-input-file -verify-diagnostics=only-expected | filecheck %s

// The first call takes the body, the others copies, with one warning per run.
// CHECK-LABEL: func.func @several_calls
// CHECK:         sdy.named_computation<"callee">
// CHECK:         sdy.named_computation<"callee">
// CHECK:         sdy.named_computation<"callee">
// CHECK-NOT:   @callee
func.func @several_calls() {
  call @callee() : () -> ()
  // expected-warning @+1 {{function @callee has multiple call ops, we need to clone the function body for each call}}
  call @callee() : () -> ()
  call @callee() : () -> ()
  return
}
func.func private @callee() {
  return
}

// -----

// A declaration has no body.
func.func private @declared(tensor<8xf32>) -> tensor<8xf32>
func.func @calls_declared(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'func.call' op cannot inline 'declared': it is a declaration without a body}}
  %0 = call @declared(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// A body cannot be inlined into itself.
func.func @recursive() {
  // expected-error @+1 {{'func.call' op cannot inline 'recursive': its calls are recursive}}
  call @recursive() : () -> ()
  return
}
