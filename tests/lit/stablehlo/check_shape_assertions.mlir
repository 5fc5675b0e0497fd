// RUN: sdy-opt %s -stablehlo-check-shape-assertions -split-input-file -verify-diagnostics | filecheck %s
// RUN: sdy-opt %s -stablehlo-check-shape-assertions=enable-shape-assertions=false -split-input-file | filecheck %s --check-prefix=DISABLED

// CHECK-LABEL: func.func @holds(
// CHECK-NOT:     shape_assertion
// DISABLED-NOT:  shape_assertion
func.func @holds() {
  %c = stablehlo.constant dense<true> : tensor<i1>
  stablehlo.custom_call @shape_assertion(%c) {error_message = "no", has_side_effect = true} : (tensor<i1>) -> ()
  return
}

// -----

func.func @fails() {
  %c = stablehlo.constant dense<false> : tensor<i1>
  %d = stablehlo.constant dense<-7> : tensor<i32>
  // expected-error @+1 {{size -7 of 'b', again -7}}
  stablehlo.custom_call @shape_assertion(%c, %d) {error_message = "size {0} of 'b', again {0}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  // expected-error @+1 {{second}}
  stablehlo.custom_call @shape_assertion(%c) {error_message = "second", has_side_effect = true} : (tensor<i1>) -> ()
  return
}

// -----

func.func @ill_formed(%p: tensor<i1>, %i: tensor<i32>, %s: tensor<i16>) {
  %c = stablehlo.constant dense<false> : tensor<i1>
  // expected-error @+1 {{expects static assert_what (operand #0)}}
  stablehlo.custom_call @shape_assertion(%p) {error_message = "a", has_side_effect = true} : (tensor<i1>) -> ()
  // expected-error @+1 {{expects static error_message_input (operand #1)}}
  stablehlo.custom_call @shape_assertion(%c, %i) {error_message = "a", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  // expected-error @+1 {{error_message_input index less than 1. Found specifier {1}}}
  stablehlo.custom_call @shape_assertion(%c, %i) {error_message = "a {1}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  // expected-error @+1 {{"foo" is not a supported attribute}}
  stablehlo.custom_call @shape_assertion(%c) {error_message = "a", foo, has_side_effect = true} : (tensor<i1>) -> ()
  // expected-error @+1 {{expects assert_what (operand #0) to be a constant of type tensor<i1>}}
  stablehlo.custom_call @shape_assertion(%i) {error_message = "a", has_side_effect = true} : (tensor<i32>) -> ()
  // expected-error @+1 {{expects error_message_input (operand #1) to be a constant of type tensor<i32> or tensor<i64>}}
  stablehlo.custom_call @shape_assertion(%c, %s) {error_message = "a", has_side_effect = true} : (tensor<i1>, tensor<i16>) -> ()
  // expected-error @+1 {{expects an error_message attribute}}
  stablehlo.custom_call @shape_assertion(%c) {has_side_effect = true} : (tensor<i1>) -> ()
  // expected-error @+1 {{expects an empty backend_config}}
  stablehlo.custom_call @shape_assertion(%c) {backend_config = "b", error_message = "a", has_side_effect = true} : (tensor<i1>) -> ()
  // expected-error @+1 {{expects 1 <= size(operands) <= 33}}
  stablehlo.custom_call @shape_assertion() {error_message = "a", has_side_effect = true} : () -> ()
  // expected-error @+1 {{expects size(results) = 0}}
  %0 = stablehlo.custom_call @shape_assertion(%c) {error_message = "a", has_side_effect = true} : (tensor<i1>) -> tensor<i1>
  return
}
