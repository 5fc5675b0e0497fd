// RUN: sdy-opt %s --allow-unregistered-dialect -split-input-file -verify-diagnostics

// What is no token is told before anything that could be said about the tokens before it.

// A character that nothing begins with.
// expected-error @below {{unexpected character}}
"t.op"() : () -> () ;

// -----

// A name that is missing.
// expected-error @below {{invalid SSA name}}
"t.op"(%) : () -> ()

// -----

// A label that is missing.
// expected-error @below {{invalid block name}}
"t.op"()[^] : () -> ()

// -----

// The name of an attribute that is missing.
// expected-error @below {{invalid attribute name}}
"t.op"() {a = #} : () -> ()

// -----

// The name of a type that is missing.
// expected-error @below {{invalid type identifier}}
"t.op"() {a = !} : () -> ()

// -----

// A symbol that is no word.
// expected-error @below {{@ identifier expected to start with letter or '_'}}
"t.op"() {a = @1} : () -> ()

// -----

// A string that does not end.
// expected-error @below {{expected '"' in string literal}}
"t.op

// -----

// An escape that means nothing.
// expected-error @below {{unknown escape in string literal}}
"t.\op"() : () -> ()

// -----

// One dot.
// expected-error @below {{expected three consecutive dots for an ellipsis}}
"t.op"() {a = .} : () -> ()

// -----

// Not a token, and yet another error.
// expected-error @below {{unexpected character}}
// expected-error @below {{expected function type}}
"t.op"() : i32 ;
