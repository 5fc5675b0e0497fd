// RUN: sdy-opt %s --allow-unregistered-dialect --mlir-print-local-scope | filecheck %s

// An integer without a type is an i64.
// CHECK: "t.attribute"() {value = 1 : i64} : () -> ()
"t.attribute"() {value = 1} : () -> ()

// A negative integer.
// CHECK: "t.attribute"() {value = -7 : si8} : () -> ()
"t.attribute"() {value = -7 : si8} : () -> ()

// An unsigned integer.
// CHECK: "t.attribute"() {value = 255 : ui8} : () -> ()
"t.attribute"() {value = 255 : ui8} : () -> ()

// Hexadecimal integers are printed in decimal.
// CHECK: "t.attribute"() {value = 31 : i32} : () -> ()
"t.attribute"() {value = 0x1F : i32} : () -> ()

// An index.
// CHECK: "t.attribute"() {value = -1 : index} : () -> ()
"t.attribute"() {value = -1 : index} : () -> ()

// An i1 is printed as a keyword,
// CHECK: "t.attribute"() {value = true} : () -> ()
"t.attribute"() {value = 1 : i1} : () -> ()

// which is accepted, too.
// CHECK: "t.attribute"() {value = true} : () -> ()
"t.attribute"() {value = true} : () -> ()

// A float without a type is an f64,
// CHECK: "t.attribute"() {value = 1.500000e+00 : f64} : () -> ()
"t.attribute"() {value = 1.5} : () -> ()

// or has a narrower type.
// CHECK: "t.attribute"() {value = 1.500000e+00 : f16} : () -> ()
"t.attribute"() {value = 1.5 : f16} : () -> ()

// An exponent.
// CHECK: "t.attribute"() {value = -2.500000e-03 : f32} : () -> ()
"t.attribute"() {value = -2.5e-3 : f32} : () -> ()

// Six significant digits are printed if they identify the number,
// CHECK: "t.attribute"() {value = 1.000000e-01 : f32} : () -> ()
"t.attribute"() {value = 0.1 : f32} : () -> ()

// otherwise as many as necessary.
// CHECK: "t.attribute"() {value = 0.333333343 : f32} : () -> ()
"t.attribute"() {value = 0.3333333333 : f32} : () -> ()

// NaN is printed as its bits,
// CHECK: "t.attribute"() {value = 0x7FC00000 : f32} : () -> ()
"t.attribute"() {value = 0x7FC00000 : f32} : () -> ()

// and so is infinity.
// CHECK: "t.attribute"() {value = 0xFF800000 : f32} : () -> ()
"t.attribute"() {value = 0xFF800000 : f32} : () -> ()

// A literal that is too large becomes infinity.
// CHECK: "t.attribute"() {value = 0x7F800000 : f32} : () -> ()
"t.attribute"() {value = 1.0e100 : f32} : () -> ()

// A narrow float.
// CHECK: "t.attribute"() {value = 1.000000e+00 : bf16} : () -> ()
"t.attribute"() {value = 1.0 : bf16} : () -> ()

// A float given by its bits.
// CHECK: "t.attribute"() {value = 1.500000e+00 : f8E4M3FN} : () -> ()
"t.attribute"() {value = 0x3C : f8E4M3FN} : () -> ()

// A string.
// CHECK: "t.attribute"() {value = "text"} : () -> ()
"t.attribute"() {value = "text"} : () -> ()

// Non-printable characters are escaped.
// CHECK: "t.attribute"() {value = "a \22quoted\22 word\0A\09\\ \C3\A9"} : () -> ()
"t.attribute"() {value = "a \"quoted\" word\n\t\\ \C3\A9"} : () -> ()

// A string with a type.
// CHECK: "t.attribute"() {value = "typed" : i32} : () -> ()
"t.attribute"() {value = "typed" : i32} : () -> ()

// The unit attribute,
// CHECK: "t.attribute"() {value} : () -> ()
"t.attribute"() {value = unit} : () -> ()

// which needs no value in a dictionary.
// CHECK: "t.attribute"() {value} : () -> ()
"t.attribute"() {value} : () -> ()

// An empty array.
// CHECK: "t.attribute"() {value = []} : () -> ()
"t.attribute"() {value = []} : () -> ()

// An array of several kinds of attributes.
// CHECK: "t.attribute"() {value = [1 : i8, "a", [unit]]} : () -> ()
"t.attribute"() {value = [1 : i8, "a", [unit]]} : () -> ()

// An empty dictionary.
// CHECK: "t.attribute"() {value = {}} : () -> ()
"t.attribute"() {value = {}} : () -> ()

// Dictionaries are sorted by name, and names are quoted where necessary.
// CHECK: "t.attribute"() {value = {a, b = 1 : i8, "c d" = "e"}} : () -> ()
"t.attribute"() {value = {b = 1 : i8, a, "c d" = "e"}} : () -> ()

// A symbol reference.
// CHECK: "t.attribute"() {value = @symbol} : () -> ()
"t.attribute"() {value = @symbol} : () -> ()

// A nested symbol reference with a quoted name.
// CHECK: "t.attribute"() {value = @"a symbol"::@inside::@another} : () -> ()
"t.attribute"() {value = @"a symbol"::@inside::@another} : () -> ()

// A type.
// CHECK: "t.attribute"() {value = i32} : () -> ()
"t.attribute"() {value = i32} : () -> ()

// A function type.
// CHECK: "t.attribute"() {value = (i32) -> i32} : () -> ()
"t.attribute"() {value = (i32) -> i32} : () -> ()

// An empty dense array.
// CHECK: "t.attribute"() {value = array<i32>} : () -> ()
"t.attribute"() {value = array<i32>} : () -> ()

// A dense array of integers.
// CHECK: "t.attribute"() {value = array<i32: -1, 2, 16>} : () -> ()
"t.attribute"() {value = array<i32: -1, 2, 0x10>} : () -> ()

// A dense array of booleans.
// CHECK: "t.attribute"() {value = array<i1: true, false>} : () -> ()
"t.attribute"() {value = array<i1: true, false>} : () -> ()

// A dense array of floats.
// CHECK: "t.attribute"() {value = array<f32: 1.000000e+00, 0x7F800000>} : () -> ()
"t.attribute"() {value = array<f32: 1.0, 0x7F800000>} : () -> ()

// A strided layout.
// CHECK: "t.attribute"() {value = strided<[4, ?, 1], offset: 2>} : () -> ()
"t.attribute"() {value = strided<[4, ?, 1], offset: 2>} : () -> ()

// A zero offset is not printed.
// CHECK: "t.attribute"() {value = strided<[]>} : () -> ()
"t.attribute"() {value = strided<[], offset: 0>} : () -> ()

// An attribute of an unregistered dialect,
// CHECK: "t.attribute"() {value = #foo.bar} : () -> ()
"t.attribute"() {value = #foo.bar} : () -> ()

// with any text between balanced brackets.
// CHECK: "t.attribute"() {value = #foo.bar<1, "b>">} : () -> ()
"t.attribute"() {value = #foo.bar<1, "b>">} : () -> ()

// The syntax with the mnemonic in brackets
// CHECK: "t.attribute"() {value = #foo.bar} : () -> ()
"t.attribute"() {value = #foo<bar>} : () -> ()

// is kept for text that is no mnemonic.
// CHECK: "t.attribute"() {value = #foo<"any text">} : () -> ()
"t.attribute"() {value = #foo<"any text">} : () -> ()

// It may have a type.
// CHECK: "t.attribute"() {value = #foo.bar : i32} : () -> ()
"t.attribute"() {value = #foo.bar : i32} : () -> ()

// Distinct attributes are numbered.
// CHECK: "t.attribute"() {value = distinct[0]<1 : i32>} : () -> ()
"t.attribute"() {value = distinct[7]<1 : i32>} : () -> ()

// A distinct attribute without a value.
// CHECK: "t.attribute"() {value = distinct[1]<>} : () -> ()
"t.attribute"() {value = distinct[0]<>} : () -> ()
