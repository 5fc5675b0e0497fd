// RUN: sdy-opt %s --allow-unregistered-dialect -split-input-file -verify-diagnostics

// An alias given twice.
#a = 1
// expected-error @below {{redefinition of attribute alias id 'a'}}
#a = 2

// -----

// So with a type.
!t = i32
// expected-error @below {{redefinition of type alias id 't'}}
!t = f32

// -----

// An alias with a dot belongs to a dialect.
// expected-error @below {{attribute names with a '.' are reserved for dialect-defined names}}
#a.b = 1

// -----

// An alias without a value.
// expected-error @below {{expected '=' in attribute alias definition}}
#a 1

// -----

// An alias that is not a type.
// expected-error @below {{expected non-function type}}
!t = 1

// -----

// An alias used before it is defined.
// expected-error @below {{undefined symbol alias id 'a'}}
"t.op"() {a = #a} : () -> ()
#a = 1

// -----

// A type used before it is defined.
// expected-error @below {{undefined symbol alias id 't'}}
"t.op"() {a = !t} : () -> ()
!t = i32
