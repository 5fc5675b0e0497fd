// RUN: sdy-opt %s --allow-unregistered-dialect | filecheck %s

// The printer renames values.

// Digits.
// CHECK: %0 = "t.op"() : () -> i32
%7 = "t.op"() : () -> i32

// Letters.
// CHECK: %1 = "t.op"() : () -> i32
%name = "t.op"() : () -> i32

// Punctuation.
// CHECK: %2 = "t.op"() : () -> i32
%-_$.9 = "t.op"() : () -> i32

// Uses of all of them.
// CHECK: "t.use"(%0, %1, %2) : (i32, i32, i32) -> ()
"t.use"(%7, %name, %-_$.9) : (i32, i32, i32) -> ()
