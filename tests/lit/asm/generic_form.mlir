// RUN: sdy-opt %s --allow-unregistered-dialect | filecheck %s

// An operation of nothing.
// CHECK: "t.op"() : () -> ()
"t.op"() : () -> ()

// One result needs no brackets around its type.
// CHECK: %0 = "t.op"() : () -> i32
%one = "t.op"() : () -> (i32)

// Several results are one name and a number.
// CHECK: %1:2 = "t.op"() : () -> (i32, f32)
%two:2 = "t.op"() : () -> (i32, f32)

// Names may be given to each; they are not kept.
// CHECK: %2:3 = "t.op"() : () -> (i32, f32, i1)
%a, %b:2 = "t.op"() : () -> (i32, f32, i1)

// Operands, of groups of results among them.
// CHECK: "t.op"(%0, %1#1, %2#0, %2#2) : (i32, f32, i32, i1) -> ()
"t.op"(%one, %two#1, %a, %b#1) : (i32, f32, i32, i1) -> ()

// The first of a group needs no number.
// CHECK: "t.op"(%1#0, %1#0) : (i32, i32) -> ()
"t.op"(%two, %two#0) : (i32, i32) -> ()

// A number may stand apart.
// CHECK: "t.op"(%1#1) : (f32) -> ()
"t.op"(%two #1) : (f32) -> ()

// Properties, and attributes behind them.
// CHECK: "t.op"() <{a = 1 : i32}> {b = 2 : i32} : () -> ()
"t.op"() <{a = 1 : i32}> {b = 2 : i32} : () -> ()

// Properties of an operation nobody knows are any attribute.
// CHECK: "t.op"() <"all there is"> : () -> ()
"t.op"() <"all there is"> : () -> ()

// A result may be a function.
// CHECK: %3 = "t.op"() : () -> (() -> ())
%f = "t.op"() : () -> (() -> ())

// Anything may be in the name of an operation.
// CHECK: "t.a \22quoted\22 name"() : () -> ()
"t.a \22quoted\22 name"() : () -> ()

// Attributes are sorted.
// CHECK: "t.op"() {a = 1 : i32, b} : () -> ()
"t.op"() {b, a = 1 : i32} : () -> ()
