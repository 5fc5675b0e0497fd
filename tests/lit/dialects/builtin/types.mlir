// RUN: sdy-opt %s --allow-unregistered-dialect | filecheck %s

// An integer.
// CHECK: "t.type"() {type = i1} : () -> ()
"t.type"() {type = i1} : () -> ()

// The widest integer.
// CHECK: "t.type"() {type = i16777215} : () -> ()
"t.type"() {type = i16777215} : () -> ()

// Leading zeros of a width do not count.
// CHECK: "t.type"() {type = i32} : () -> ()
"t.type"() {type = i000000032} : () -> ()

// A signed integer,
// CHECK: "t.type"() {type = si4} : () -> ()
"t.type"() {type = si4} : () -> ()

// and an unsigned one.
// CHECK: "t.type"() {type = ui64} : () -> ()
"t.type"() {type = ui64} : () -> ()

// The index type.
// CHECK: "t.type"() {type = index} : () -> ()
"t.type"() {type = index} : () -> ()

// Digits of a comment between dimensions are no dimension.
// CHECK: "t.type"() {type = tensor<4x8xf32>} : () -> ()
"t.type"() {type = tensor<4x // 5 per host
  8xf32>} : () -> ()

// Spaces may surround a scalable dimension.
// CHECK: "t.type"() {type = vector<4x[8]xf32>} : () -> ()
"t.type"() {type = vector<4x[ 8 ]xf32>} : () -> ()

// The none type.
// CHECK: "t.type"() {type = none} : () -> ()
"t.type"() {type = none} : () -> ()

// IEEE double precision,
// CHECK: "t.type"() {type = f64} : () -> ()
"t.type"() {type = f64} : () -> ()

// single precision,
// CHECK: "t.type"() {type = f32} : () -> ()
"t.type"() {type = f32} : () -> ()

// half precision,
// CHECK: "t.type"() {type = f16} : () -> ()
"t.type"() {type = f16} : () -> ()

// bfloat16,
// CHECK: "t.type"() {type = bf16} : () -> ()
"t.type"() {type = bf16} : () -> ()

// TensorFloat-32,
// CHECK: "t.type"() {type = tf32} : () -> ()
"t.type"() {type = tf32} : () -> ()

// 80-bit extended precision,
// CHECK: "t.type"() {type = f80} : () -> ()
"t.type"() {type = f80} : () -> ()

// and quadruple precision.
// CHECK: "t.type"() {type = f128} : () -> ()
"t.type"() {type = f128} : () -> ()

// 8-bit floats: with infinities,
// CHECK: "t.type"() {type = f8E5M2} : () -> ()
"t.type"() {type = f8E5M2} : () -> ()

// with three mantissa bits,
// CHECK: "t.type"() {type = f8E4M3} : () -> ()
"t.type"() {type = f8E4M3} : () -> ()

// without infinities,
// CHECK: "t.type"() {type = f8E4M3FN} : () -> ()
"t.type"() {type = f8E4M3FN} : () -> ()

// without infinities and negative zero,
// CHECK: "t.type"() {type = f8E5M2FNUZ} : () -> ()
"t.type"() {type = f8E5M2FNUZ} : () -> ()

// the same with three mantissa bits,
// CHECK: "t.type"() {type = f8E4M3FNUZ} : () -> ()
"t.type"() {type = f8E4M3FNUZ} : () -> ()

// with another bias,
// CHECK: "t.type"() {type = f8E4M3B11FNUZ} : () -> ()
"t.type"() {type = f8E4M3B11FNUZ} : () -> ()

// with four mantissa bits,
// CHECK: "t.type"() {type = f8E3M4} : () -> ()
"t.type"() {type = f8E3M4} : () -> ()

// and without a mantissa.
// CHECK: "t.type"() {type = f8E8M0FNU} : () -> ()
"t.type"() {type = f8E8M0FNU} : () -> ()

// 6-bit floats with three mantissa bits,
// CHECK: "t.type"() {type = f6E2M3FN} : () -> ()
"t.type"() {type = f6E2M3FN} : () -> ()

// and with two.
// CHECK: "t.type"() {type = f6E3M2FN} : () -> ()
"t.type"() {type = f6E3M2FN} : () -> ()

// A 4-bit float.
// CHECK: "t.type"() {type = f4E2M1FN} : () -> ()
"t.type"() {type = f4E2M1FN} : () -> ()

// A complex type of floats,
// CHECK: "t.type"() {type = complex<f32>} : () -> ()
"t.type"() {type = complex<f32>} : () -> ()

// and of integers.
// CHECK: "t.type"() {type = complex<i8>} : () -> ()
"t.type"() {type = complex<i8>} : () -> ()

// An empty tuple.
// CHECK: "t.type"() {type = tuple<>} : () -> ()
"t.type"() {type = tuple<>} : () -> ()

// A nested tuple.
// CHECK: "t.type"() {type = tuple<i32, tuple<f32, index>>} : () -> ()
"t.type"() {type = tuple<i32, tuple<f32, index>>} : () -> ()

// A function type without inputs and results.
// CHECK: "t.type"() {type = () -> ()} : () -> ()
"t.type"() {type = () -> ()} : () -> ()

// One result needs no parentheses,
// CHECK: "t.type"() {type = (i32, f32) -> i1} : () -> ()
"t.type"() {type = (i32, f32) -> i1} : () -> ()

// several do,
// CHECK: "t.type"() {type = (i32) -> (i1, i1)} : () -> ()
"t.type"() {type = (i32) -> (i1, i1)} : () -> ()

// and so does a function type.
// CHECK: "t.type"() {type = () -> ((i32) -> i32)} : () -> ()
"t.type"() {type = () -> ((i32) -> i32)} : () -> ()

// A tensor of rank 0.
// CHECK: "t.type"() {type = tensor<f32>} : () -> ()
"t.type"() {type = tensor<f32>} : () -> ()

// A tensor of static shape.
// CHECK: "t.type"() {type = tensor<4x8xf32>} : () -> ()
"t.type"() {type = tensor<4x8xf32>} : () -> ()

// A dynamic dimension.
// CHECK: "t.type"() {type = tensor<?x8x?xf32>} : () -> ()
"t.type"() {type = tensor<?x8x?xf32>} : () -> ()

// An unranked tensor.
// CHECK: "t.type"() {type = tensor<*xf32>} : () -> ()
"t.type"() {type = tensor<*xf32>} : () -> ()

// A zero dimension.
// CHECK: "t.type"() {type = tensor<0x0xi1>} : () -> ()
"t.type"() {type = tensor<0x0xi1>} : () -> ()

// `0x4` is two dimensions, not a hexadecimal number.
// CHECK: "t.type"() {type = tensor<0x4xf32>} : () -> ()
"t.type"() {type = tensor<0x4xf32>} : () -> ()

// A complex element type.
// CHECK: "t.type"() {type = tensor<2xcomplex<f64>>} : () -> ()
"t.type"() {type = tensor<2xcomplex<f64>>} : () -> ()

// An unregistered element type.
// CHECK: "t.type"() {type = tensor<2x!foo.bar>} : () -> ()
"t.type"() {type = tensor<2x!foo.bar>} : () -> ()

// An encoding is any attribute,
// CHECK: "t.type"() {type = tensor<4xf32, "row major">} : () -> ()
"t.type"() {type = tensor<4xf32, "row major">} : () -> ()

// such as a dictionary.
// CHECK: "t.type"() {type = tensor<4xf32, {a = 1 : i32}>} : () -> ()
"t.type"() {type = tensor<4xf32, {a = 1 : i32}>} : () -> ()

// A vector.
// CHECK: "t.type"() {type = vector<4xf32>} : () -> ()
"t.type"() {type = vector<4xf32>} : () -> ()

// A vector of rank 0.
// CHECK: "t.type"() {type = vector<f32>} : () -> ()
"t.type"() {type = vector<f32>} : () -> ()

// A scalable dimension.
// CHECK: "t.type"() {type = vector<4x[8]xi8>} : () -> ()
"t.type"() {type = vector<4x[8]xi8>} : () -> ()

// A memref.
// CHECK: "t.type"() {type = memref<4x?xf32>} : () -> ()
"t.type"() {type = memref<4x?xf32>} : () -> ()

// An unranked memref.
// CHECK: "t.type"() {type = memref<*xf32>} : () -> ()
"t.type"() {type = memref<*xf32>} : () -> ()

// A memref with a strided layout.
// CHECK: "t.type"() {type = memref<4xf32, strided<[2], offset: ?>>} : () -> ()
"t.type"() {type = memref<4xf32, strided<[2], offset: ?>>} : () -> ()

// A memref with an affine layout,
// CHECK: "t.type"() {type = memref<4xf32, #map>} : () -> ()
"t.type"() {type = memref<4xf32, affine_map<(d0) -> (d0 * 2)>>} : () -> ()

// which is not printed if it is the identity.
// CHECK: "t.type"() {type = memref<4xf32>} : () -> ()
"t.type"() {type = memref<4xf32, affine_map<(d0) -> (d0)>>} : () -> ()

// A memref with a memory space.
// CHECK: "t.type"() {type = memref<4xf32, 3>} : () -> ()
"t.type"() {type = memref<4xf32, 3>} : () -> ()

// A layout and a memory space.
// CHECK: "t.type"() {type = memref<4xf32, strided<[2]>, "near">} : () -> ()
"t.type"() {type = memref<4xf32, strided<[2]>, "near">} : () -> ()

// A type of an unregistered dialect,
// CHECK: "t.type"() {type = !foo.bar} : () -> ()
"t.type"() {type = !foo.bar} : () -> ()

// with any text between balanced brackets.
// CHECK: "t.type"() {type = !foo.bar<a, [b], "c>">} : () -> ()
"t.type"() {type = !foo.bar<a, [b], "c>">} : () -> ()

// The syntax with the mnemonic in brackets
// CHECK: "t.type"() {type = !foo.bar} : () -> ()
"t.type"() {type = !foo<bar>} : () -> ()

// is kept for text that is no mnemonic.
// CHECK: "t.type"() {type = !foo<"quoted bar">} : () -> ()
"t.type"() {type = !foo<"quoted bar">} : () -> ()
