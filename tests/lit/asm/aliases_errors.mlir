// RUN: sdy-opt %s --allow-unregistered-dialect -split-input-file -verify-diagnostics

// Redefinition of an attribute alias.
#a = 1
// expected-error @below {{redefinition of attribute alias id 'a'}}
#a = 2

// -----

// Redefinition of a type alias.
!t = i32
// expected-error @below {{redefinition of type alias id 't'}}
!t = f32

// -----

// Names with a dot are reserved for dialects.
// expected-error @below {{attribute names with a '.' are reserved for dialect-defined names}}
#a.b = 1

// -----

// Missing equals sign.
// expected-error @below {{expected '=' in attribute alias definition}}
#a 1

// -----

// A type alias that is defined as an attribute.
// expected-error @below {{expected non-function type}}
!t = 1

// -----

// Use of an attribute alias before its definition.
// expected-error @below {{undefined symbol alias id 'a'}}
"t.op"() {a = #a} : () -> ()
#a = 1

// -----

// Use of a type alias before its definition.
// expected-error @below {{undefined symbol alias id 't'}}
"t.op"() {a = !t} : () -> ()
!t = i32
