// RUN: sdy-opt %s --allow-unregistered-dialect | filecheck %s

// An integer of any width.
// CHECK: "t.type"() {type = i1} : () -> ()
"t.type"() {type = i1} : () -> ()

// The widest integer.
// CHECK: "t.type"() {type = i16777215} : () -> ()
"t.type"() {type = i16777215} : () -> ()

// An integer with a sign,
// CHECK: "t.type"() {type = si4} : () -> ()
"t.type"() {type = si4} : () -> ()

// and one without.
// CHECK: "t.type"() {type = ui64} : () -> ()
"t.type"() {type = ui64} : () -> ()

// An integer as wide as a pointer.
// CHECK: "t.type"() {type = index} : () -> ()
"t.type"() {type = index} : () -> ()

// The type without a value.
// CHECK: "t.type"() {type = none} : () -> ()
"t.type"() {type = none} : () -> ()

// Floating point numbers of the standard,
// CHECK: "t.type"() {type = f64} : () -> ()
"t.type"() {type = f64} : () -> ()

// of single precision,
// CHECK: "t.type"() {type = f32} : () -> ()
"t.type"() {type = f32} : () -> ()

// of half precision,
// CHECK: "t.type"() {type = f16} : () -> ()
"t.type"() {type = f16} : () -> ()

// with the exponent of single precision,
// CHECK: "t.type"() {type = bf16} : () -> ()
"t.type"() {type = bf16} : () -> ()

// in the format of tensor cores,
// CHECK: "t.type"() {type = tf32} : () -> ()
"t.type"() {type = tf32} : () -> ()

// with 80 bits,
// CHECK: "t.type"() {type = f80} : () -> ()
"t.type"() {type = f80} : () -> ()

// and with 128.
// CHECK: "t.type"() {type = f128} : () -> ()
"t.type"() {type = f128} : () -> ()

// Floating point numbers of 8 bits: with infinities,
// CHECK: "t.type"() {type = f8E5M2} : () -> ()
"t.type"() {type = f8E5M2} : () -> ()

// with three bits of mantissa,
// CHECK: "t.type"() {type = f8E4M3} : () -> ()
"t.type"() {type = f8E4M3} : () -> ()

// without infinities,
// CHECK: "t.type"() {type = f8E4M3FN} : () -> ()
"t.type"() {type = f8E4M3FN} : () -> ()

// without a negative zero,
// CHECK: "t.type"() {type = f8E5M2FNUZ} : () -> ()
"t.type"() {type = f8E5M2FNUZ} : () -> ()

// without both,
// CHECK: "t.type"() {type = f8E4M3FNUZ} : () -> ()
"t.type"() {type = f8E4M3FNUZ} : () -> ()

// with another bias,
// CHECK: "t.type"() {type = f8E4M3B11FNUZ} : () -> ()
"t.type"() {type = f8E4M3B11FNUZ} : () -> ()

// with four bits of mantissa,
// CHECK: "t.type"() {type = f8E3M4} : () -> ()
"t.type"() {type = f8E3M4} : () -> ()

// with none at all.
// CHECK: "t.type"() {type = f8E8M0FNU} : () -> ()
"t.type"() {type = f8E8M0FNU} : () -> ()

// Those of 6 bits,
// CHECK: "t.type"() {type = f6E2M3FN} : () -> ()
"t.type"() {type = f6E2M3FN} : () -> ()

// and another way to divide them.
// CHECK: "t.type"() {type = f6E3M2FN} : () -> ()
"t.type"() {type = f6E3M2FN} : () -> ()

// Those of 4 bits.
// CHECK: "t.type"() {type = f4E2M1FN} : () -> ()
"t.type"() {type = f4E2M1FN} : () -> ()

// A complex number of floating point parts,
// CHECK: "t.type"() {type = complex<f32>} : () -> ()
"t.type"() {type = complex<f32>} : () -> ()

// or of integers.
// CHECK: "t.type"() {type = complex<i8>} : () -> ()
"t.type"() {type = complex<i8>} : () -> ()

// A tuple of nothing.
// CHECK: "t.type"() {type = tuple<>} : () -> ()
"t.type"() {type = tuple<>} : () -> ()

// A tuple in a tuple.
// CHECK: "t.type"() {type = tuple<i32, tuple<f32, index>>} : () -> ()
"t.type"() {type = tuple<i32, tuple<f32, index>>} : () -> ()

// A function of nothing that gives nothing.
// CHECK: "t.type"() {type = () -> ()} : () -> ()
"t.type"() {type = () -> ()} : () -> ()

// One result needs no brackets,
// CHECK: "t.type"() {type = (i32, f32) -> i1} : () -> ()
"t.type"() {type = (i32, f32) -> i1} : () -> ()

// several do,
// CHECK: "t.type"() {type = (i32) -> (i1, i1)} : () -> ()
"t.type"() {type = (i32) -> (i1, i1)} : () -> ()

// and so does a function.
// CHECK: "t.type"() {type = () -> ((i32) -> i32)} : () -> ()
"t.type"() {type = () -> ((i32) -> i32)} : () -> ()

// A tensor of rank 0.
// CHECK: "t.type"() {type = tensor<f32>} : () -> ()
"t.type"() {type = tensor<f32>} : () -> ()

// A tensor of known sizes.
// CHECK: "t.type"() {type = tensor<4x8xf32>} : () -> ()
"t.type"() {type = tensor<4x8xf32>} : () -> ()

// A question mark is a size that is not known.
// CHECK: "t.type"() {type = tensor<?x8x?xf32>} : () -> ()
"t.type"() {type = tensor<?x8x?xf32>} : () -> ()

// A star is a rank that is not known.
// CHECK: "t.type"() {type = tensor<*xf32>} : () -> ()
"t.type"() {type = tensor<*xf32>} : () -> ()

// A tensor may be empty.
// CHECK: "t.type"() {type = tensor<0x0xi1>} : () -> ()
"t.type"() {type = tensor<0x0xi1>} : () -> ()

// Here 0x4 is two sizes, not a hexadecimal number.
// CHECK: "t.type"() {type = tensor<0x4xf32>} : () -> ()
"t.type"() {type = tensor<0x4xf32>} : () -> ()

// Elements that are not simple.
// CHECK: "t.type"() {type = tensor<2xcomplex<f64>>} : () -> ()
"t.type"() {type = tensor<2xcomplex<f64>>} : () -> ()

// Elements of a type nobody knows.
// CHECK: "t.type"() {type = tensor<2x!foo.bar>} : () -> ()
"t.type"() {type = tensor<2x!foo.bar>} : () -> ()

// An encoding is any attribute,
// CHECK: "t.type"() {type = tensor<4xf32, "row major">} : () -> ()
"t.type"() {type = tensor<4xf32, "row major">} : () -> ()

// a dictionary, say.
// CHECK: "t.type"() {type = tensor<4xf32, {a = 1 : i32}>} : () -> ()
"t.type"() {type = tensor<4xf32, {a = 1 : i32}>} : () -> ()

// A vector.
// CHECK: "t.type"() {type = vector<4xf32>} : () -> ()
"t.type"() {type = vector<4xf32>} : () -> ()

// A vector of rank 0.
// CHECK: "t.type"() {type = vector<f32>} : () -> ()
"t.type"() {type = vector<f32>} : () -> ()

// A size in brackets is multiplied by what the machine has.
// CHECK: "t.type"() {type = vector<4x[8]xi8>} : () -> ()
"t.type"() {type = vector<4x[8]xi8>} : () -> ()

// A buffer.
// CHECK: "t.type"() {type = memref<4x?xf32>} : () -> ()
"t.type"() {type = memref<4x?xf32>} : () -> ()

// A buffer of unknown rank.
// CHECK: "t.type"() {type = memref<*xf32>} : () -> ()
"t.type"() {type = memref<*xf32>} : () -> ()

// A buffer with gaps.
// CHECK: "t.type"() {type = memref<4xf32, strided<[2], offset: ?>>} : () -> ()
"t.type"() {type = memref<4xf32, strided<[2], offset: ?>>} : () -> ()

// A buffer whose layout is a map,
// CHECK: "t.type"() {type = memref<4xf32, #map>} : () -> ()
"t.type"() {type = memref<4xf32, affine_map<(d0) -> (d0 * 2)>>} : () -> ()

// which is not written if it changes nothing.
// CHECK: "t.type"() {type = memref<4xf32>} : () -> ()
"t.type"() {type = memref<4xf32, affine_map<(d0) -> (d0)>>} : () -> ()

// A buffer in a memory of its own.
// CHECK: "t.type"() {type = memref<4xf32, 3>} : () -> ()
"t.type"() {type = memref<4xf32, 3>} : () -> ()

// Layout, then memory.
// CHECK: "t.type"() {type = memref<4xf32, strided<[2]>, "near">} : () -> ()
"t.type"() {type = memref<4xf32, strided<[2]>, "near">} : () -> ()

// A type of a dialect that nobody knows,
// CHECK: "t.type"() {type = !foo.bar} : () -> ()
"t.type"() {type = !foo.bar} : () -> ()

// with anything between its brackets,
// CHECK: "t.type"() {type = !foo.bar<a, [b], "c>">} : () -> ()
"t.type"() {type = !foo.bar<a, [b], "c>">} : () -> ()

// which may stand behind the dialect,
// CHECK: "t.type"() {type = !foo.bar} : () -> ()
"t.type"() {type = !foo<bar>} : () -> ()

// and stays there where it is no name.
// CHECK: "t.type"() {type = !foo<"quoted bar">} : () -> ()
"t.type"() {type = !foo<"quoted bar">} : () -> ()
