// RUN: sdy-opt %s --allow-unregistered-dialect -split-input-file -verify-diagnostics

// An invalid token is reported before, and mostly instead of, errors about the tokens before it.

// A character that starts no token.
// expected-error @below {{unexpected character}}
"t.op"() : () -> () ;

// -----

// Missing SSA name.
// expected-error @below {{invalid SSA name}}
"t.op"(%) : () -> ()

// -----

// Missing block name.
// expected-error @below {{invalid block name}}
"t.op"()[^] : () -> ()

// -----

// Missing attribute name.
// expected-error @below {{invalid attribute name}}
"t.op"() {a = #} : () -> ()

// -----

// Missing type name.
// expected-error @below {{invalid type identifier}}
"t.op"() {a = !} : () -> ()

// -----

// Invalid symbol name.
// expected-error @below {{@ identifier expected to start with letter or '_'}}
"t.op"() {a = @1} : () -> ()

// -----

// A string that is not closed.
// expected-error @below {{expected '"' in string literal}}
"t.op

// -----

// Unknown escape sequence.
// expected-error @below {{unknown escape in string literal}}
"t.\op"() : () -> ()

// -----

// A single dot.
// expected-error @below {{expected three consecutive dots for an ellipsis}}
"t.op"() {a = .} : () -> ()

// -----

// An invalid token after a wrong type: both are reported.
// expected-error @below {{unexpected character}}
// expected-error @below {{expected function type}}
"t.op"() : i32 ;
