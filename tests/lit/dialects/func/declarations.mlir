// RUN: sdy-opt %s --allow-unregistered-dialect | filecheck %s

// A declaration.
// CHECK: func.func private @none()
func.func private @none()

// Argument types without names.
// CHECK: func.func private @types(i32, tensor<4xf32>) -> i1
func.func private @types(i32, tensor<4xf32>) -> i1

// Argument names are not printed.
// CHECK: func.func private @names(i32, f32)
func.func private @names(%a: i32, %b: f32)

// Several results.
// CHECK: func.func private @results() -> (i32, f32)
func.func private @results() -> (i32, f32)

// A function result needs parentheses.
// CHECK: func.func private @function() -> (() -> i32)
func.func private @function() -> (() -> i32)

// Attributes of arguments and results.
// CHECK: func.func private @attributes(i32 {a.b = 1 : i32}, f32) -> (i1 {c.d}, i1)
func.func private @attributes(i32 {a.b = 1 : i32}, f32) -> (i1 {c.d}, i1)

// A single result with attributes needs parentheses.
// CHECK: func.func private @one() -> (i1 {c.d})
func.func private @one() -> (i1 {c.d})

// Attributes of the function.
// CHECK: func.func private @function_attributes() attributes {a.b, no_inline}
func.func private @function_attributes() attributes {a.b, no_inline}

// Nested visibility.
// CHECK: func.func nested @nested()
func.func nested @nested()

// A quoted name.
// CHECK: func.func private @"any name"()
func.func private @"any name"()

// The generic form.
// CHECK: func.func private @generic(i32 {a.b}) -> i1
"func.func"() <{function_type = (i32) -> i1, sym_name = "generic", sym_visibility = "private", arg_attrs = [{a.b}]}> ({}) : () -> ()

// The generic form without properties.
// CHECK: func.func private @old()
"func.func"() ({}) {function_type = () -> (), sym_name = "old", sym_visibility = "private"} : () -> ()
