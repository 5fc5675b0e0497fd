// RUN: sdy-opt %s --allow-unregistered-dialect --mlir-print-local-scope | filecheck %s

// A number without a type has 64 bits.
// CHECK: "t.attribute"() {value = 1 : i64} : () -> ()
"t.attribute"() {value = 1} : () -> ()

// A number below zero.
// CHECK: "t.attribute"() {value = -7 : si8} : () -> ()
"t.attribute"() {value = -7 : si8} : () -> ()

// A number without a sign.
// CHECK: "t.attribute"() {value = 255 : ui8} : () -> ()
"t.attribute"() {value = 255 : ui8} : () -> ()

// Hexadecimal digits are not kept.
// CHECK: "t.attribute"() {value = 31 : i32} : () -> ()
"t.attribute"() {value = 0x1F : i32} : () -> ()

// An index.
// CHECK: "t.attribute"() {value = -1 : index} : () -> ()
"t.attribute"() {value = -1 : index} : () -> ()

// A number of one bit is a truth,
// CHECK: "t.attribute"() {value = true} : () -> ()
"t.attribute"() {value = 1 : i1} : () -> ()

// and so is the word.
// CHECK: "t.attribute"() {value = true} : () -> ()
"t.attribute"() {value = true} : () -> ()

// A fraction without a type has 64 bits,
// CHECK: "t.attribute"() {value = 1.500000e+00 : f64} : () -> ()
"t.attribute"() {value = 1.5} : () -> ()

// or as many as its type.
// CHECK: "t.attribute"() {value = 1.500000e+00 : f16} : () -> ()
"t.attribute"() {value = 1.5 : f16} : () -> ()

// An exponent.
// CHECK: "t.attribute"() {value = -2.500000e-03 : f32} : () -> ()
"t.attribute"() {value = -2.5e-3 : f32} : () -> ()

// As many digits are written as tell the number from its neighbours.
// CHECK: "t.attribute"() {value = 1.000000e-01 : f32} : () -> ()
"t.attribute"() {value = 0.1 : f32} : () -> ()

// What is no number is written as its bits,
// CHECK: "t.attribute"() {value = 0x7FC00000 : f32} : () -> ()
"t.attribute"() {value = 0x7FC00000 : f32} : () -> ()

// and so is what is without end.
// CHECK: "t.attribute"() {value = 0xFF800000 : f32} : () -> ()
"t.attribute"() {value = 0xFF800000 : f32} : () -> ()

// A number too large is infinite.
// CHECK: "t.attribute"() {value = 0x7F800000 : f32} : () -> ()
"t.attribute"() {value = 1.0e100 : f32} : () -> ()

// A number of few bits.
// CHECK: "t.attribute"() {value = 1.000000e+00 : bf16} : () -> ()
"t.attribute"() {value = 1.0 : bf16} : () -> ()

// A number given by its bits.
// CHECK: "t.attribute"() {value = 1.500000e+00 : f8E4M3FN} : () -> ()
"t.attribute"() {value = 0x3C : f8E4M3FN} : () -> ()

// A string.
// CHECK: "t.attribute"() {value = "text"} : () -> ()
"t.attribute"() {value = "text"} : () -> ()

// What is not printable is written in hexadecimal digits.
// CHECK: "t.attribute"() {value = "a \22quoted\22 word\0A\09\\ \C3\A9"} : () -> ()
"t.attribute"() {value = "a \"quoted\" word\n\t\\ \C3\A9"} : () -> ()

// A string with a type.
// CHECK: "t.attribute"() {value = "typed" : i32} : () -> ()
"t.attribute"() {value = "typed" : i32} : () -> ()

// Nothing but being there,
// CHECK: "t.attribute"() {value} : () -> ()
"t.attribute"() {value = unit} : () -> ()

// which needs no value in a dictionary.
// CHECK: "t.attribute"() {value} : () -> ()
"t.attribute"() {value} : () -> ()

// An array of nothing.
// CHECK: "t.attribute"() {value = []} : () -> ()
"t.attribute"() {value = []} : () -> ()

// An array of anything.
// CHECK: "t.attribute"() {value = [1 : i8, "a", [unit]]} : () -> ()
"t.attribute"() {value = [1 : i8, "a", [unit]]} : () -> ()

// An empty dictionary.
// CHECK: "t.attribute"() {value = {}} : () -> ()
"t.attribute"() {value = {}} : () -> ()

// A dictionary is sorted, and names are quoted where they must be.
// CHECK: "t.attribute"() {value = {a, b = 1 : i8, "c d" = "e"}} : () -> ()
"t.attribute"() {value = {b = 1 : i8, a, "c d" = "e"}} : () -> ()

// A reference to a symbol.
// CHECK: "t.attribute"() {value = @symbol} : () -> ()
"t.attribute"() {value = @symbol} : () -> ()

// A reference into symbol tables, a name of which is no word.
// CHECK: "t.attribute"() {value = @"a symbol"::@inside::@another} : () -> ()
"t.attribute"() {value = @"a symbol"::@inside::@another} : () -> ()

// A type.
// CHECK: "t.attribute"() {value = i32} : () -> ()
"t.attribute"() {value = i32} : () -> ()

// A type that is more than a word.
// CHECK: "t.attribute"() {value = (i32) -> i32} : () -> ()
"t.attribute"() {value = (i32) -> i32} : () -> ()

// An array of numbers, empty.
// CHECK: "t.attribute"() {value = array<i32>} : () -> ()
"t.attribute"() {value = array<i32>} : () -> ()

// An array of numbers.
// CHECK: "t.attribute"() {value = array<i32: -1, 2, 16>} : () -> ()
"t.attribute"() {value = array<i32: -1, 2, 0x10>} : () -> ()

// An array of truths.
// CHECK: "t.attribute"() {value = array<i1: true, false>} : () -> ()
"t.attribute"() {value = array<i1: true, false>} : () -> ()

// An array of fractions.
// CHECK: "t.attribute"() {value = array<f32: 1.000000e+00, 0x7F800000>} : () -> ()
"t.attribute"() {value = array<f32: 1.0, 0x7F800000>} : () -> ()

// A layout with gaps.
// CHECK: "t.attribute"() {value = strided<[4, ?, 1], offset: 2>} : () -> ()
"t.attribute"() {value = strided<[4, ?, 1], offset: 2>} : () -> ()

// An offset of zero is not written.
// CHECK: "t.attribute"() {value = strided<[]>} : () -> ()
"t.attribute"() {value = strided<[], offset: 0>} : () -> ()

// An attribute of a dialect that nobody knows,
// CHECK: "t.attribute"() {value = #foo.bar} : () -> ()
"t.attribute"() {value = #foo.bar} : () -> ()

// with anything between its brackets,
// CHECK: "t.attribute"() {value = #foo.bar<1, "b>">} : () -> ()
"t.attribute"() {value = #foo.bar<1, "b>">} : () -> ()

// which may stand behind the dialect,
// CHECK: "t.attribute"() {value = #foo.bar} : () -> ()
"t.attribute"() {value = #foo<bar>} : () -> ()

// and stays there where it is no name.
// CHECK: "t.attribute"() {value = #foo<"any text">} : () -> ()
"t.attribute"() {value = #foo<"any text">} : () -> ()

// It may have a type.
// CHECK: "t.attribute"() {value = #foo.bar : i32} : () -> ()
"t.attribute"() {value = #foo.bar : i32} : () -> ()

// An attribute that is equal to no other gets a number of its own.
// CHECK: "t.attribute"() {value = distinct[0]<1 : i32>} : () -> ()
"t.attribute"() {value = distinct[7]<1 : i32>} : () -> ()

// One that holds nothing.
// CHECK: "t.attribute"() {value = distinct[1]<>} : () -> ()
"t.attribute"() {value = distinct[0]<>} : () -> ()
