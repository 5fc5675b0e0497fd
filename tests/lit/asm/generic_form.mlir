// RUN: sdy-opt %s --allow-unregistered-dialect | filecheck %s

// No operands and results.
// CHECK: "t.op"() : () -> ()
"t.op"() : () -> ()

// A single result type without parentheses.
// CHECK: %0 = "t.op"() : () -> i32
%one = "t.op"() : () -> (i32)

// A group of results: a name and a count.
// CHECK: %1:2 = "t.op"() : () -> (i32, f32)
%two:2 = "t.op"() : () -> (i32, f32)

// A name for each result; names are not preserved.
// CHECK: %2:3 = "t.op"() : () -> (i32, f32, i1)
%a, %b:2 = "t.op"() : () -> (i32, f32, i1)

// Operands, including results of a group.
// CHECK: "t.op"(%0, %1#1, %2#0, %2#2) : (i32, f32, i32, i1) -> ()
"t.op"(%one, %two#1, %a, %b#1) : (i32, f32, i32, i1) -> ()

// The first result of a group without a number.
// CHECK: "t.op"(%1#0, %1#0) : (i32, i32) -> ()
"t.op"(%two, %two#0) : (i32, i32) -> ()

// A result number after a blank.
// CHECK: "t.op"(%1#1) : (f32) -> ()
"t.op"(%two #1) : (f32) -> ()

// Properties, and attributes after them.
// CHECK: "t.op"() <{a = 1 : i32}> {b = 2 : i32} : () -> ()
"t.op"() <{a = 1 : i32}> {b = 2 : i32} : () -> ()

// The properties of an unregistered operation may be any attribute.
// CHECK: "t.op"() <"all there is"> : () -> ()
"t.op"() <"all there is"> : () -> ()

// A result of function type.
// CHECK: %3 = "t.op"() : () -> (() -> ())
%f = "t.op"() : () -> (() -> ())

// Any characters in the name of an operation.
// CHECK: "t.a \22quoted\22 name"() : () -> ()
"t.a \22quoted\22 name"() : () -> ()

// Attributes are sorted by name.
// CHECK: "t.op"() {a = 1 : i32, b} : () -> ()
"t.op"() {b, a = 1 : i32} : () -> ()
