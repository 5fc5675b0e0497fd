// RUN: sdy-opt %s --allow-unregistered-dialect -split-input-file -verify-diagnostics

// An integer type that is too wide.
// expected-error @below {{integer bitwidth is limited to 16777215 bits}}
"t.type"() {type = i16777216} : () -> ()

// -----

// A tensor type without a closing bracket.
// expected-error @below {{expected '>' in tensor type}}
"t.type"() {type = tensor<4xf32} : () -> ()

// -----

// A tensor type without an element type.
// expected-error @below {{expected non-function type}}
"t.type"() {type = tensor<4x>} : () -> ()

// -----

// A tensor of functions.
// expected-error @below {{invalid tensor element type}}
"t.type"() {type = tensor<4x() -> ()>} : () -> ()

// -----

// A dimension that is too large.
// expected-error @below {{invalid dimension}}
"t.type"() {type = tensor<99999999999999999999xf32>} : () -> ()

// -----

// A negative dimension.
// expected-error @below {{expected non-function type}}
"t.type"() {type = tensor<-1xf32>} : () -> ()

// -----

// An unranked tensor with an encoding.
// expected-error @below {{cannot apply encoding to unranked tensor}}
"t.type"() {type = tensor<*xf32, 1>} : () -> ()

// -----

// A vector with a zero dimension.
// expected-error @below {{vector types must have positive constant sizes but got 0}}
"t.type"() {type = vector<0xf32>} : () -> ()

// -----

// A vector with a dynamic dimension.
// expected-error @below {{expected non-function type}}
"t.type"() {type = vector<?xf32>} : () -> ()

// -----

// A vector of tensors.
// expected-error @below {{failed to verify 'elementType': VectorElementTypeInterface instance}}
"t.type"() {type = vector<4xtensor<f32>>} : () -> ()

// -----

// A scalable dimension without a closing bracket.
// expected-error @below {{missing ']' closing scalable dimension}}
"t.type"() {type = vector<[4xf32>} : () -> ()

// -----

// A memref of functions.
// expected-error @below {{invalid memref element type}}
"t.type"() {type = memref<4x() -> ()>} : () -> ()

// -----

// Two memory spaces.
// expected-error @below {{multiple memory spaces specified in memref type}}
"t.type"() {type = memref<4xf32, 1, 2>} : () -> ()

// -----

// A complex type of indices.
// expected-error @below {{invalid element type for complex}}
"t.type"() {type = complex<index>} : () -> ()

// -----

// A tuple type without a closing bracket.
// expected-error @below {{expected '>' in tuple type}}
"t.type"() {type = tuple<i32} : () -> ()

// -----

// A function type without results.
// expected-error @below {{expected '->' in function type}}
"t.type"() {type = (i32)} : () -> ()

// -----

// A dialect type without a closing bracket.
// expected-error @below {{unbalanced '<' character in pretty dialect name}}
"t.type"() {type = !foo.bar<a} : () -> ()

// -----

// Mismatched brackets.
// expected-error @below {{unbalanced '(' character in pretty dialect name}}
"t.type"() {type = !foo.bar<(]>} : () -> ()
