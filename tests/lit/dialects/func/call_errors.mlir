// RUN: sdy-opt %s --allow-unregistered-dialect -split-input-file -verify-diagnostics

// An undefined function.
func.func private @g(i32) -> i32
func.func @f(%a: i32, %b: f32) {
  // expected-error @below {{'func.call' op 'nobody' does not reference a valid function}}
  call @nobody() : () -> ()
  return
}

// -----

// Too many operands.
func.func private @g(i32) -> i32
func.func @f(%a: i32, %b: f32) {
  // expected-error @below {{'func.call' op incorrect number of operands for callee}}
  %0 = call @g(%a, %a) : (i32, i32) -> i32
  return
}

// -----

// An operand of another type.
func.func private @g(i32) -> i32
func.func @f(%a: i32, %b: f32) {
  // expected-error @below {{'func.call' op operand type mismatch: expected operand type 'i32', but provided 'f32' for operand number 0}}
  %0 = call @g(%b) : (f32) -> i32
  return
}

// -----

// A missing result.
func.func private @g(i32) -> i32
func.func @f(%a: i32, %b: f32) {
  // expected-error @below {{'func.call' op incorrect number of results for callee}}
  call @g(%a) : (i32) -> ()
  return
}

// -----

// A result of another type.
func.func private @g(i32) -> i32
func.func @f(%a: i32, %b: f32) {
  // expected-error @below {{'func.call' op result type mismatch at index 0}}
  // expected-note @below {{      op result types: 'f32'}}
  // expected-note @below {{function result types: 'i32'}}
  %0 = call @g(%a) : (i32) -> f32
  return
}

// -----

// A string as callee.
func.func private @g(i32) -> i32
func.func @f(%a: i32, %b: f32) {
  // expected-error @below {{custom op 'func.call' invalid kind of attribute specified}}
  call "g"(%a) : (i32) -> i32
  return
}

// -----

// A nested symbol as callee.
func.func private @g(i32) -> i32
func.func @f(%a: i32, %b: f32) {
  // expected-error @below {{custom op 'func.call' invalid kind of attribute specified}}
  call @a::@g(%a) : (i32) -> i32
  return
}

// -----

// Types for another number of operands.
func.func private @g(i32) -> i32
func.func @f(%a: i32, %b: f32) {
  // expected-error @below {{custom op 'func.call' number of operands and types do not match: got 1 operands and 0 types}}
  %0 = call @g(%a) : () -> i32
  return
}

// -----

// A callee type that is no function type.
func.func private @g(i32) -> i32
func.func @f(%a: i32, %b: f32) {
  // expected-error @below {{custom op 'func.call' invalid kind of type specified: expected builtin.function, but found 'i32'}}
  %0 = call @g(%a) : i32
  return
}

// -----

// A constant that refers to no function.
func.func private @g(i32) -> i32
func.func @f(%a: i32, %b: f32) {
  // expected-error @below {{'func.constant' op reference to undefined function 'nobody'}}
  %0 = constant @nobody : () -> ()
  return
}

// -----

// A constant of another type.
func.func private @g(i32) -> i32
func.func @f(%a: i32, %b: f32) {
  // expected-error @below {{'func.constant' op reference to function with mismatched type}}
  %0 = constant @g : () -> ()
  return
}

// -----

// A constant that is no symbol.
func.func private @g(i32) -> i32
func.func @f(%a: i32, %b: f32) {
  // expected-error @below {{custom op 'func.constant' invalid kind of attribute specified}}
  %0 = constant "g" : () -> ()
  return
}

// -----

// An indirect call of a value that is no function.
func.func private @g(i32) -> i32
func.func @f(%a: i32, %b: f32) {
  // expected-error @below {{custom op 'func.call_indirect' invalid kind of type specified: expected builtin.function, but found 'i32'}}
  %0 = call_indirect %a(%a) : i32
  return
}

// -----

// Operand types other than those of the function type.
func.func private @g(i32) -> i32
func.func @f(%a: i32, %b: f32) {
  %0 = constant @g : (i32) -> i32
  // expected-error @below {{'func.call_indirect' op failed to verify that callee input types match argument types}}
  %1 = "func.call_indirect"(%0, %b) : ((i32) -> i32, f32) -> i32
  return
}

// -----

// Result types other than those of the function type.
func.func private @g(i32) -> i32
func.func @f(%a: i32, %b: f32) {
  %0 = constant @g : (i32) -> i32
  // expected-error @below {{'func.call_indirect' op failed to verify that callee result types match result types}}
  %1 = "func.call_indirect"(%0, %a) : ((i32) -> i32, i32) -> f32
  return
}

// -----

// A missing callee.
func.func private @g(i32) -> i32
func.func @f(%a: i32, %b: f32) {
  // expected-error @below {{'func.call' op requires attribute 'callee'}}
  "func.call"() : () -> ()
  return
}

// -----

// A callee of another attribute class.
func.func private @g(i32) -> i32
func.func @f(%a: i32, %b: f32) {
  // expected-error @below {{'func.call' op attribute 'callee' failed to satisfy constraint: flat symbol reference attribute}}
  "func.call"() {callee = 1 : i32} : () -> ()
  return
}
