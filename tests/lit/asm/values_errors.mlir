// RUN: sdy-opt %s --allow-unregistered-dialect -split-input-file -verify-diagnostics

// Undefined value.
func.func @f() -> i32 {
  // expected-error @below {{use of undeclared SSA value name}}
  return %a : i32
}

// -----

// An error for each undefined value.
func.func @f() -> i32 {
  // expected-error @below {{use of undeclared SSA value name}}
  "t.op"(%a) : (i32) -> ()
  // expected-error @below {{use of undeclared SSA value name}}
  return %b : i32
}

// -----

// Redefinition of a value.
// expected-note @below {{previously defined here}}
%a = "t.op"() : () -> i32
// expected-error @below {{redefinition of SSA value '%a'}}
%a = "t.op"() : () -> i32

// -----

// Use with another type.
// expected-note @below {{prior use here}}
%a = "t.op"() : () -> i32
// expected-error @below {{use of value '%a' expects different type than prior uses: 'f32' vs 'i32'}}
"t.op"(%a) : (f32) -> ()

// -----

// Definition with another type than in uses before it.
// expected-note @below {{previously used here with type 'f32'}}
"t.op"(%a) : (f32) -> ()
// expected-error @below {{definition of SSA value '%a#0' has type 'i32'}}
%a = "t.op"() : () -> i32

// -----

// Result number out of range.
%a:2 = "t.op"() : () -> (i32, i32)
// expected-error @below {{reference to invalid result number}}
"t.op"(%a#2) : (i32) -> ()

// -----

// Invalid result number.
// expected-error @below {{invalid SSA value result number}}
"t.op"(%a#b) : (i32) -> ()

// -----

// An argument with a result number.
// expected-error @below {{result number not allowed in argument list}}
func.func @f(%a#0: i32) {
  return
}

// -----

// Redefinition of an argument.
// expected-error @below {{region entry argument '%a' is already in use}}
// expected-note @below {{previously referenced here}}
func.func @f(%a: i32, %a: i32) {
  return
}

// -----

// An argument with the name of a value outside of the region.
// expected-note @below {{previously defined here}}
func.func @f(%a: i32) {
  "t.op"() ({
    // expected-error @below {{redefinition of SSA value '%a'}}
    %a = "t.op"() : () -> i32
  }) : () -> ()
  return
}

// -----

// Use of a value outside of an isolated region.
%a = "t.op"() : () -> i32
// expected-note @below {{required by region isolation constraints}}
func.func @f() -> i32 {
  // expected-error @below {{'func.return' op using value defined outside the region}}
  return %a : i32
}

// -----

// Use before the definition in an SSACFG region.
func.func @f() -> i32 {
  // expected-error @below {{operand #0 does not dominate this use}}
  "t.op"(%a) : (i32) -> ()
  // expected-note @below {{operand defined here (op in the same block)}}
  %a = "t.op"() : () -> i32
  return %a : i32
}

// -----

// A definition that does not dominate its use.
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

// An argument of a block that does not dominate its use.
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

// A value of a nested region.
func.func @f() {
  // expected-error @below {{operand #0 does not dominate this use}}
  "t.op"(%x) : (i32) -> ()
  "t.op"() ({
    // expected-note @below {{operand defined here (op in a child region)}}
    %x = "t.op"() : () -> i32
  }) : () -> ()
  return
}

// -----

// An operand may have a name that is defined later, but not in a region of the operation.
func.func @defined_inside(%a: tensor<i32>) -> tensor<i32> {
  // expected-error @+1 {{operand #0 does not dominate this use}}
  %0 = stablehlo.while(%i = %c) : tensor<i32>
  cond {
    // expected-note @+1 {{operand defined here (op in a child region)}}
    %c = stablehlo.constant dense<3> : tensor<i32>
    %1 = stablehlo.compare LT, %i, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    stablehlo.return %i : tensor<i32>
  }
  return %0 : tensor<i32>
}

// -----

// A statement without the name of its result, after one that differs in nothing else.
func.func @no_name_of_result() {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  // expected-error @below {{invalid SSA name}}
  % = stablehlo.constant dense<1> : tensor<i32>
  return
}

// -----

// The same without the name of an operand.
func.func @no_name_of_operand(%a: tensor<i32>) {
  %0 = stablehlo.add %a, %a : tensor<i32>
  // expected-error @below {{invalid SSA name}}
  %1 = stablehlo.add %a, % : tensor<i32>
  return
}
