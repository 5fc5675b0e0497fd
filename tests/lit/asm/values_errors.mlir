// RUN: sdy-opt %s --allow-unregistered-dialect -split-input-file -verify-diagnostics

// A value that nobody defines.
func.func @f() -> i32 {
  // expected-error @below {{use of undeclared SSA value name}}
  return %a : i32
}

// -----

// All of them are named.
func.func @f() -> i32 {
  // expected-error @below {{use of undeclared SSA value name}}
  "t.op"(%a) : (i32) -> ()
  // expected-error @below {{use of undeclared SSA value name}}
  return %b : i32
}

// -----

// A value defined twice.
// expected-note @below {{previously defined here}}
%a = "t.op"() : () -> i32
// expected-error @below {{redefinition of SSA value '%a'}}
%a = "t.op"() : () -> i32

// -----

// A value used as another type.
// expected-note @below {{prior use here}}
%a = "t.op"() : () -> i32
// expected-error @below {{use of value '%a' expects different type than prior uses: 'f32' vs 'i32'}}
"t.op"(%a) : (f32) -> ()

// -----

// A value that turns out to have another type.
// expected-note @below {{previously used here with type 'f32'}}
"t.op"(%a) : (f32) -> ()
// expected-error @below {{definition of SSA value '%a#0' has type 'i32'}}
%a = "t.op"() : () -> i32

// -----

// A result that there is not.
%a:2 = "t.op"() : () -> (i32, i32)
// expected-error @below {{reference to invalid result number}}
"t.op"(%a#2) : (i32) -> ()

// -----

// A number of a result that is none.
// expected-error @below {{invalid SSA value result number}}
"t.op"(%a#b) : (i32) -> ()

// -----

// An argument with the number of a result.
// expected-error @below {{result number not allowed in argument list}}
func.func @f(%a#0: i32) {
  return
}

// -----

// An argument given twice.
// expected-error @below {{region entry argument '%a' is already in use}}
// expected-note @below {{previously referenced here}}
func.func @f(%a: i32, %a: i32) {
  return
}

// -----

// A name of the region around.
// expected-note @below {{previously defined here}}
func.func @f(%a: i32) {
  "t.op"() ({
    // expected-error @below {{redefinition of SSA value '%a'}}
    %a = "t.op"() : () -> i32
  }) : () -> ()
  return
}

// -----

// A value from outside a function.
%a = "t.op"() : () -> i32
// expected-note @below {{required by region isolation constraints}}
func.func @f() -> i32 {
  // expected-error @below {{'func.return' op using value defined outside the region}}
  return %a : i32
}

// -----

// A value used before it is defined, where order counts.
func.func @f() -> i32 {
  // expected-error @below {{operand #0 does not dominate this use}}
  "t.op"(%a) : (i32) -> ()
  // expected-note @below {{operand defined here (op in the same block)}}
  %a = "t.op"() : () -> i32
  return %a : i32
}

// -----

// A value defined on one way here only.
func.func @f() {
  "t.br"()[^a, ^b] : () -> ()
^a:
  // expected-note @below {{operand defined here (op in the same region)}}
  %x = "t.op"() : () -> i32
  "t.br"()[^b] : () -> ()
^b:
  // expected-error @below {{operand #0 does not dominate this use}}
  "t.op"(%x) : (i32) -> ()
  return
}

// -----

// An argument of another block.
// expected-note @below {{operand defined as a block argument (block #1 in the same region)}}
func.func @f() {
  "t.br"()[^a, ^b] : () -> ()
^a(%x: i32):
  "t.br"()[^b] : () -> ()
^b:
  // expected-error @below {{operand #0 does not dominate this use}}
  "t.op"(%x) : (i32) -> ()
  return
}

// -----

// A value of a region inside.
func.func @f() {
  // expected-error @below {{operand #0 does not dominate this use}}
  "t.op"(%x) : (i32) -> ()
  "t.op"() ({
    // expected-note @below {{operand defined here (op in a child region)}}
    %x = "t.op"() : () -> i32
  }) : () -> ()
  return
}
