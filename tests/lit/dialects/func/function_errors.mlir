// RUN: sdy-opt %s --allow-unregistered-dialect -split-input-file -verify-diagnostics

// A function without a name.
// expected-error @below {{custom op 'func.func' expected valid '@'-identifier for symbol name}}
func.func private ()

// -----

// A function without an argument list.
// expected-error @below {{expected '('}}
func.func private @f

// -----

// An argument without a type.
// expected-error @below {{expected ':'}}
func.func @f(%a) {
  return
}

// -----

// A type among named arguments.
// expected-error @below {{custom op 'func.func' expected SSA identifier}}
func.func @f(%a: i32, i32) {
  return
}

// -----

// A named argument among types.
// expected-error @below {{custom op 'func.func' expected type instead of SSA identifier}}
func.func private @f(i32, %a: i32)

// -----

// The symbol name as an attribute, too.
// expected-error @below {{custom op 'func.func' 'sym_name' is an inferred attribute and should not be specified in the explicit attribute dictionary}}
func.func private @f() attributes {sym_name = "g"}

// -----

// The function type as an attribute, too.
// expected-error @below {{custom op 'func.func' 'function_type' is an inferred attribute and should not be specified in the explicit attribute dictionary}}
func.func private @f() attributes {function_type = () -> ()}

// -----

// Duplicate argument attributes.
// expected-error @below {{custom op 'func.func' attribute 'arg_attrs' occurs more than once in the attribute list}}
func.func private @f(i32 {a.b}) attributes {arg_attrs = [{}]}

// -----

// An empty body.
// expected-error @below {{custom op 'func.func' expected non-empty function body}}
func.func @f() {}

// -----

// An entry block with other arguments.
// expected-error @below {{'func.func' op entry block must have 1 arguments to match function signature}}
func.func @f(i32) {
  return
}

// -----

// A public declaration.
// expected-error @below {{'func.func' op symbol declaration cannot have public visibility}}
func.func @f()

// -----

// An invalid visibility.
// expected-error @below {{'func.func' op visibility expected to be one of ["public", "private", "nested"], but got "secret"}}
"func.func"() <{function_type = () -> (), sym_name = "f", sym_visibility = "secret"}> ({}) : () -> ()

// -----

// Two functions of one name.
// expected-note @below {{see existing symbol definition here}}
func.func private @f()
// expected-error @below {{redefinition of symbol named 'f'}}
func.func private @f()

// -----

// An argument attribute without a dialect prefix.
// expected-error @below {{'func.func' op arguments may only have dialect attributes}}
func.func private @f(i32 {a})

// -----

// A result attribute without a dialect prefix.
// expected-error @below {{'func.func' op results may only have dialect attributes}}
func.func private @f() -> (i32 {a})

// -----

// More dictionaries than arguments.
// expected-error @below {{'func.func' op expects argument attribute array to have the same number of elements as the number of function arguments, got 2, but expected 0}}
"func.func"() <{function_type = () -> (), sym_name = "f", sym_visibility = "private", arg_attrs = [{}, {a.b}]}> ({}) : () -> ()

// -----

// A function type attribute that is no function type.
// expected-error @below {{'func.func' op attribute 'function_type' failed to satisfy constraint: type attribute of function type}}
"func.func"() <{function_type = i32, sym_name = "f"}> ({}) : () -> ()

// -----

// A property of another class.
// expected-error @below {{invalid properties {function_type = () -> (), sym_name = 1 : i32} for op func.func: Invalid attribute `sym_name` in property conversion: 1 : i32}}
"func.func"() <{function_type = () -> (), sym_name = 1 : i32}> ({}) : () -> ()

// -----

// No region.
// expected-error @below {{'func.func' op requires one region}}
"func.func"() <{function_type = () -> (), sym_name = "f"}> : () -> ()

// -----

// A function in a function.
func.func @f() {
  // expected-error @below {{'func.func' op symbol's parent must have the SymbolTable trait}}
  func.func private @g()
  return
}

// -----

// A return with another number of values.
func.func @f() -> i32 {
  // expected-error @below {{'func.return' op has 0 operands, but enclosing function (@f) returns 1}}
  return
}

// -----

// A return with another type.
func.func @f(%a: f32) -> i32 {
  // expected-error @below {{type of return operand 0 ('f32') doesn't match function result type ('i32') in function @f}}
  return %a : f32
}

// -----

// A return outside of a function.
"t.op"() ({
  // expected-error @below {{'func.return' op expects parent op 'func.func'}}
  func.return
}) : () -> ()

// -----

// A return without types.
func.func @f(%a: i32) -> i32 {
  // expected-error @below {{expected ':'}}
  return %a
}

// -----

// A return with results.
func.func @f() {
  // expected-error @below {{'func.return' op requires zero results}}
  %0 = "func.return"() : () -> i32
}
