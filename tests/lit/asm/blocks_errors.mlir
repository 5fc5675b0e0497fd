// RUN: sdy-opt %s --allow-unregistered-dialect -split-input-file -verify-diagnostics

// A label that nobody defines.
func.func @f() {
  // expected-error @below {{reference to an undefined block}}
  "t.br"()[^a] : () -> ()
}

// -----

// All of them are told.
func.func @f() {
  // expected-error @below {{reference to an undefined block}}
  "t.br"()[^a, ^b] : () -> ()
}

// -----

// A label defined twice.
func.func @f() {
^a:
  "t.br"()[^a] : () -> ()
// expected-error @below {{redefinition of block '^a'}}
^a:
  return
}

// -----

// A label without a colon.
func.func @f() {
// expected-error @below {{expected ':' after block name}}
^a
  return
}

// -----

// A label where arguments have names already.
func.func @f(%x: i32) {
// expected-error @below {{invalid block name in region with named arguments}}
^a:
  return
}

// -----

// A block of a region inside.
func.func @f() {
  // expected-error @below {{reference to an undefined block}}
  "t.br"()[^a] : () -> ()
^b:
  "t.op"() ({
  ^a:
    "t.end"() : () -> ()
  }) : () -> ()
  return
}

// -----

// An argument without a type.
func.func @f() {
// expected-error @below {{expected ':' and type for SSA operand}}
^a(%x):
  return
}

// -----

// A branch to the entry.
// expected-error @below {{entry block of region may not have predecessors}}
func.func @f() {
^a:
  "t.br"()[^a] : () -> ()
}

// -----

// A branch in the middle.
func.func @f() {
  // expected-error @below {{operation with block successors must terminate its parent block}}
  "t.br"()[^a] : () -> ()
  "t.op"() : () -> ()
^a:
  return
}

// -----

// An empty block.
// expected-error @below {{empty block: expect at least a terminator}}
func.func @f() {
  "t.br"()[^a] : () -> ()
^a:
}

// -----

// A block that does not end.
func.func @f() {
  // expected-error @below {{block with no terminator, has "func.call"() <{callee = @f}> : () -> ()}}
  func.call @f() : () -> ()
}

// -----

// An end in the middle.
func.func @f() {
  // expected-error @below {{'func.return' op must be the last operation in the parent block}}
  return
  return
}

// -----

// A region that does not end.
func.func @f() {
  // expected-error @below {{expected operation name in quotes}}
  return
