// RUN: sdy-opt %s --allow-unregistered-dialect -split-input-file -verify-diagnostics

// What stands there is no operation.
// expected-error @below {{expected operation name in quotes}}
42

// -----

// A word that is no operation.
// expected-error @below {{custom op 'nothing' is unknown (tried 'builtin.nothing' as well)}}
nothing

// -----

// A dialect that nobody knows.
func.func @f() {
  // expected-error @below {{Dialect `nobody' not found for custom op 'nobody.op' }}
  // expected-note @below {{Available dialects: }}
  nobody.op
  return
}

// -----

// An operation that its dialect does not have.
func.func @f() {
  // expected-error @below {{custom op 'func.op' is unknown}}
  func.op
  return
}

// -----

// An operation that a dialect does not have, in generic form.
// expected-error @below {{unregistered operation 'func.op' found in dialect ('func') that does not allow unknown operations}}
"func.op"() : () -> ()

// -----

// A name without results.
// expected-error @below {{cannot name an operation with no results}}
%0 = "t.op"() : () -> ()

// -----

// More names than results.
// expected-error @below {{operation defines 1 results but was provided 2 to bind}}
%0:2 = "t.op"() : () -> i32

// -----

// A number of results that is none.
// expected-error @below {{expected named operation to have at least 1 result}}
%0:0 = "t.op"() : () -> i32

// -----

// A number that is no number.
// expected-error @below {{expected integer number of results}}
%0:x = "t.op"() : () -> i32

// -----

// A comma without a name.
// expected-error @below {{expected valid ssa identifier}}
%0, = "t.op"() : () -> i32

// -----

// An operation without a name.
// expected-error @below {{empty operation name is invalid}}
"" () : () -> ()

// -----

// Operands without brackets.
// expected-error @below {{expected '(' to start operand list}}
"t.op" : () -> ()

// -----

// Operands without an end.
// expected-error @below {{expected ')' to end operand list}}
"t.op"(%a : (i32) -> ()

// -----

// A type that is no function.
// expected-error @below {{expected function type}}
"t.op"() : i32

// -----

// Fewer types than operands.
%a = "t.op"() : () -> i32
// expected-error @below {{expected 2 operand types but had 1}}
"t.op"(%a, %a) : (i32) -> ()

// -----

// Properties without an end.
// expected-error @below {{expected '>' to close properties}}
"t.op"() <{a} : () -> ()

// -----

// A list of successors without any.
// expected-error @below {{expected list element}}
"t.op"()[] : () -> ()

// -----

// Successors of an operation that ends nothing.
func.func @f() {
  // expected-error @below {{successors in non-terminator}}
  "func.call"()[^next] {callee = @f} : () -> ()
^next:
  return
}

// -----

// A location without an end.
// expected-error @below {{expected ')' in location}}
"t.op"() : () -> () loc("a"

// -----

// A location that is no attribute.
// expected-error @below {{expected location instance}}
"t.op"() : () -> () loc(1)

// -----

// A location that is another attribute.
#a = 1
// expected-error @below {{expected location, but found '1 : i64'}}
"t.op"() : () -> () loc(#a)

// -----

// A location that nobody defines.
// expected-error @below {{operation location alias was never defined}}
"t.op"() : () -> () loc(#a)

// -----

// A location that turns out to be something else.
// expected-error @below {{expected location, but found '"text"'}}
"t.op"() : () -> () loc(#a)
#a = "text"
