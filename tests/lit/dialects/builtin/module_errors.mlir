// RUN: sdy-opt %s --allow-unregistered-dialect -split-input-file -verify-diagnostics

// A module without a body.
// expected-error @below {{expected '{' to begin a region}}
module

// -----

// An integer as symbol name.
// expected-error @below {{@ identifier expected to start with letter or '_'}}
module @1 {}

// -----

// Attributes without a brace.
// expected-error @below {{expected '{' in attribute dictionary}}
module attributes @a {}

// -----

// An attribute without a dialect prefix.
// expected-error @below {{'builtin.module' op can only contain attributes with dialect-prefixed names, found: 'a'}}
module attributes {a} {}

// -----

// Two blocks.
// expected-error @below {{'builtin.module' op expects region #0 to have 0 or 1 blocks}}
module {
^a:
^b:
}

// -----

// A block argument.
// expected-error @below {{'builtin.module' op region should have no arguments}}
module {
^a(%x: i32):
}

// -----

// No block.
// expected-error @below {{'builtin.module' op region #0 ('bodyRegion') failed to verify constraint: region with 1 blocks}}
"builtin.module"() ({}) : () -> ()

// -----

// No region.
// expected-error @below {{'builtin.module' op requires one region}}
"builtin.module"() : () -> ()

// -----

// A result.
// expected-error @below {{'builtin.module' op requires zero results}}
%0 = "builtin.module"() ({
^a:
}) : () -> i32

// -----

// Two modules of one name.
// expected-note @below {{see existing symbol definition here}}
module @a {}
// expected-error @below {{redefinition of symbol named 'a'}}
module @a {}

// -----

// A name of another attribute class.
// expected-error @below {{invalid properties {sym_name = 1 : i32} for op builtin.module: Invalid attribute `sym_name` in property conversion: 1 : i32}}
"builtin.module"() <{sym_name = 1 : i32}> ({
^a:
}) : () -> ()

// -----

// An invalid visibility.
// expected-error @below {{'builtin.module' op visibility expected to be one of ["public", "private", "nested"], but got "secret"}}
module @a attributes {sym_visibility = "secret"} {}

// -----

// A cast without results.
// expected-error @below {{'builtin.unrealized_conversion_cast' op expected at least one result for cast operation}}
"builtin.unrealized_conversion_cast"() : () -> ()

// -----

// A cast without result types.
func.func @f() {
  %0 = builtin.unrealized_conversion_cast
  // expected-error @below {{custom op 'builtin.unrealized_conversion_cast' expected 'to'}}
  return
}

// -----

// A cast with fewer types than operands.
%0 = "t.op"() : () -> i32
// expected-error @below {{custom op 'builtin.unrealized_conversion_cast' number of operands and types do not match: got 2 operands and 1 types}}
%1 = builtin.unrealized_conversion_cast %0, %0 : i32 to i64
