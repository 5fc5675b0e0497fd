// RUN: sdy-opt %s --allow-unregistered-dialect -split-input-file -verify-diagnostics

// Not an operation.
// expected-error @below {{expected operation name in quotes}}
42

// -----

// A keyword that is no operation.
// expected-error @below {{custom op 'nothing' is unknown (tried 'builtin.nothing' as well)}}
nothing

// -----

// Unknown dialect.
func.func @f() {
  // expected-error @below {{Dialect `nobody' not found for custom op 'nobody.op' }}
  // expected-note @below {{Available dialects: }}
  nobody.op
  return
}

// -----

// Unknown operation of a dialect.
func.func @f() {
  // expected-error @below {{custom op 'func.op' is unknown}}
  func.op
  return
}

// -----

// Unknown operation of a dialect in generic form.
// expected-error @below {{unregistered operation 'func.op' found in dialect ('func') that does not allow unknown operations}}
"func.op"() : () -> ()

// -----

// A name for an operation without results.
// expected-error @below {{cannot name an operation with no results}}
%0 = "t.op"() : () -> ()

// -----

// More names than results.
// expected-error @below {{operation defines 1 results but was provided 2 to bind}}
%0:2 = "t.op"() : () -> i32

// -----

// A result count of zero.
// expected-error @below {{expected named operation to have at least 1 result}}
%0:0 = "t.op"() : () -> i32

// -----

// A result count that is not a number.
// expected-error @below {{expected integer number of results}}
%0:x = "t.op"() : () -> i32

// -----

// Missing name after a comma.
// expected-error @below {{expected valid ssa identifier}}
%0, = "t.op"() : () -> i32

// -----

// Empty operation name.
// expected-error @below {{empty operation name is invalid}}
"" () : () -> ()

// -----

// Missing operand list.
// expected-error @below {{expected '(' to start operand list}}
"t.op" : () -> ()

// -----

// An operand list that is not closed.
// expected-error @below {{expected ')' to end operand list}}
"t.op"(%a : (i32) -> ()

// -----

// A type that is not a function type.
// expected-error @below {{expected function type}}
"t.op"() : i32

// -----

// Fewer types than operands.
%a = "t.op"() : () -> i32
// expected-error @below {{expected 2 operand types but had 1}}
"t.op"(%a, %a) : (i32) -> ()

// -----

// Properties that are not closed.
// expected-error @below {{expected '>' to close properties}}
"t.op"() <{a} : () -> ()

// -----

// Empty list of successors.
// expected-error @below {{expected list element}}
"t.op"()[] : () -> ()

// -----

// Successors of an operation that is not a terminator.
func.func @f() {
  // expected-error @below {{successors in non-terminator}}
  "func.call"()[^next] {callee = @f} : () -> ()
^next:
  return
}

// -----

// A location that is not closed.
// expected-error @below {{expected ')' in location}}
"t.op"() : () -> () loc("a"

// -----

// A number in place of a location.
// expected-error @below {{expected location instance}}
"t.op"() : () -> () loc(1)

// -----

// A location alias that is another attribute.
#a = 1
// expected-error @below {{expected location, but found '1 : i64'}}
"t.op"() : () -> () loc(#a)

// -----

// Undefined location alias.
// expected-error @below {{operation location alias was never defined}}
"t.op"() : () -> () loc(#a)

// -----

// A location alias that is defined later as another attribute.
// expected-error @below {{expected location, but found '"text"'}}
"t.op"() : () -> () loc(#a)
#a = "text"
