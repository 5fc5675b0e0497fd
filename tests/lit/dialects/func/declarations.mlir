// RUN: sdy-opt %s --allow-unregistered-dialect | filecheck %s

// A function without a body.
// CHECK: func.func private @none()
func.func private @none()

// Types alone, for there are no names.
// CHECK: func.func private @types(i32, tensor<4xf32>) -> i1
func.func private @types(i32, tensor<4xf32>) -> i1

// Names of arguments are not kept.
// CHECK: func.func private @names(i32, f32)
func.func private @names(%a: i32, %b: f32)

// Several results.
// CHECK: func.func private @results() -> (i32, f32)
func.func private @results() -> (i32, f32)

// A result that is a function needs brackets.
// CHECK: func.func private @function() -> (() -> i32)
func.func private @function() -> (() -> i32)

// Attributes of arguments and results.
// CHECK: func.func private @attributes(i32 {a.b = 1 : i32}, f32) -> (i1 {c.d}, i1)
func.func private @attributes(i32 {a.b = 1 : i32}, f32) -> (i1 {c.d}, i1)

// One result with attributes needs brackets.
// CHECK: func.func private @one() -> (i1 {c.d})
func.func private @one() -> (i1 {c.d})

// Attributes of the function.
// CHECK: func.func private @function_attributes() attributes {a.b, no_inline}
func.func private @function_attributes() attributes {a.b, no_inline}

// Seen by what is nested deeper.
// CHECK: func.func nested @nested()
func.func nested @nested()

// A name that is no word.
// CHECK: func.func private @"any name"()
func.func private @"any name"()

// In generic form, too.
// CHECK: func.func private @generic(i32 {a.b}) -> i1
"func.func"() <{function_type = (i32) -> i1, sym_name = "generic", sym_visibility = "private", arg_attrs = [{a.b}]}> ({}) : () -> ()

// The old generic form has no properties.
// CHECK: func.func private @old()
"func.func"() ({}) {function_type = () -> (), sym_name = "old", sym_visibility = "private"} : () -> ()
