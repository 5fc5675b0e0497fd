// RUN: sdy-opt %s --allow-unregistered-dialect -split-input-file -verify-diagnostics

// Undefined block.
func.func @f() {
  // expected-error @below {{reference to an undefined block}}
  "t.br"()[^a] : () -> ()
}

// -----

// An error for each undefined block.
func.func @f() {
  // expected-error @below 2 {{reference to an undefined block}}
  "t.br"()[^a, ^b] : () -> ()
}

// -----

// Redefinition of a block.
func.func @f() {
^a:
  "t.br"()[^a] : () -> ()
// expected-error @below {{redefinition of block '^a'}}
^a:
  return
}

// -----

// Missing colon after a label.
func.func @f() {
// expected-error @below {{expected ':' after block name}}
^a
  return
}

// -----

// A label of an entry block with named arguments.
func.func @f(%x: i32) {
// expected-error @below {{invalid block name in region with named arguments}}
^a:
  return
}

// -----

// A block of a nested region as a successor.
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

// Missing type of an argument.
func.func @f() {
// expected-error @below {{expected ':' and type for SSA operand}}
^a(%x):
  return
}

// -----

// A branch to the entry block.
// expected-error @below {{entry block of region may not have predecessors}}
func.func @f() {
^a:
  "t.br"()[^a] : () -> ()
}

// -----

// A terminator before the end of a block.
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

// A block without a terminator.
func.func @f() {
  // expected-error @below {{block with no terminator, has "func.call"() <{callee = @f}> : () -> ()}}
  func.call @f() : () -> ()
}

// -----

// A return before the end of a block.
func.func @f() {
  // expected-error @below {{'func.return' op must be the last operation in the parent block}}
  return
  return
}

// -----

// A region that is not closed.
func.func @f() {
  // expected-error @below {{expected operation name in quotes}}
  return
