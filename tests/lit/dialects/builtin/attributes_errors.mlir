// RUN: sdy-opt %s --allow-unregistered-dialect -split-input-file -verify-diagnostics

// A missing value.
// expected-error @below {{expected attribute value}}
"t.attribute"() {value = } : () -> ()

// -----

// An integer out of range.
// expected-error @below {{integer constant out of range for attribute}}
"t.attribute"() {value = 256 : i8} : () -> ()

// -----

// A negative unsigned integer.
// expected-error @below {{negative integer literal not valid for unsigned integer type}}
"t.attribute"() {value = -1 : ui8} : () -> ()

// -----

// An integer literal of a tensor type.
// expected-error @below {{integer literal not valid for specified type}}
"t.attribute"() {value = 1 : tensor<i32>} : () -> ()

// -----

// A float literal of an integer type.
// expected-error @below {{floating point value not valid for specified type}}
"t.attribute"() {value = 1.5 : i32} : () -> ()

// -----

// An integer literal of a float type.
// expected-error @below {{unexpected decimal integer literal for a floating point value}}
// expected-note @below {{add a trailing dot to make the literal a float}}
"t.attribute"() {value = 1 : f32} : () -> ()

// -----

// A bit pattern wider than its type.
// expected-error @below {{hexadecimal float constant out of range for type}}
"t.attribute"() {value = 0x1FFFF : f16} : () -> ()

// -----

// A minus sign without a number.
// expected-error @below {{expected constant integer or floating point value}}
"t.attribute"() {value = -} : () -> ()

// -----

// An array without a closing bracket.
// expected-error @below {{expected ',' or ']'}}
"t.attribute"() {value = [1, 2} : () -> ()

// -----

// A trailing comma.
// expected-error @below {{expected attribute value}}
"t.attribute"() {value = [1, ]} : () -> ()

// -----

// A dictionary entry without a value.
// expected-error @below {{expected attribute value}}
"t.attribute"() {value = {a = }} : () -> ()

// -----

// A duplicate key.
// expected-error @below {{duplicate key 'a' in dictionary attribute}}
"t.attribute"() {value = {a = 1, a = 2}} : () -> ()

// -----

// A nested symbol reference without a name.
// expected-error @below {{expected nested symbol reference identifier}}
"t.attribute"() {value = @a::} : () -> ()

// -----

// Too few elements.
// expected-error @below {{inferred shape of elements literal ([2]) does not match type ([3])}}
"t.attribute"() {value = dense<[1, 2]> : tensor<3xi32>} : () -> ()

// -----

// Elements of inconsistent ranks.
// expected-error @below {{tensor literal is invalid; ranks are not consistent between elements}}
"t.attribute"() {value = dense<[[1, 2], [3]]> : tensor<2x2xi32>} : () -> ()

// -----

// Elements without a type.
// expected-error @below {{expected ':'}}
"t.attribute"() {value = dense<[1, 2]>} : () -> ()

// -----

// Elements of a scalar type.
// expected-error @below {{elements literal must be a shaped type}}
"t.attribute"() {value = dense<1> : i32} : () -> ()

// -----

// Elements of a dynamic shape.
// expected-error @below {{elements literal type must have static shape}}
"t.attribute"() {value = dense<1> : tensor<?xi32>} : () -> ()

// -----

// A float element of an integer type.
// expected-error @below {{expected integer elements, but parsed floating-point}}
"t.attribute"() {value = dense<[1.5]> : tensor<1xi32>} : () -> ()

// -----

// An element out of range.
// expected-error @below {{integer constant out of range for type}}
"t.attribute"() {value = dense<[256]> : tensor<1xi8>} : () -> ()

// -----

// Too few bytes.
// expected-error @below {{elements hex data size is invalid for provided type: 'tensor<2xi32>'}}
"t.attribute"() {value = dense<"0x01"> : tensor<2xi32>} : () -> ()

// -----

// A string that is not hexadecimal.
// expected-error @below {{expected string containing hex digits starting with `0x`}}
"t.attribute"() {value = dense<"text"> : tensor<1xi32>} : () -> ()

// -----

// Sparse elements with fewer indices than values.
// expected-error @below {{expected shape ([2, 2]); inferred shape of indices literal ([1, 2]); inferred shape of values literal ([2])}}
"t.attribute"() {value = sparse<[[0, 0]], [1, 2]> : tensor<2x2xi32>} : () -> ()

// -----

// A sparse index out of bounds.
// expected-error @below {{sparse index #0 is not contained within the value shape, with index=[2], and type='tensor<2xi32>'}}
"t.attribute"() {value = sparse<[[2]], [1]> : tensor<2xi32>} : () -> ()

// -----

// A dense array of indices.
// expected-error @below {{expected integer or float type, got: 'index'}}
"t.attribute"() {value = array<index: 1>} : () -> ()

// -----

// A dense array with a float element of an integer type.
// expected-error @below {{expected integer literal}}
"t.attribute"() {value = array<i32: 1.5>} : () -> ()

// -----

// A dense array with an element width that is no multiple of 8.
// expected-error @below {{element type bitwidth must be a multiple of 8}}
"t.attribute"() {value = array<i7: 1>} : () -> ()

// -----

// An affine map without an arrow.
// expected-error @below {{expected '->' or ':'}}
"t.attribute"() {value = affine_map<(d0)>} : () -> ()

// -----

// An affine map with an undeclared identifier.
// expected-error @below {{use of undeclared identifier}}
"t.attribute"() {value = affine_map<(d0) -> (d1)>} : () -> ()

// -----

// An affine map with a duplicate identifier.
// expected-error @below {{redefinition of identifier 'd0'}}
"t.attribute"() {value = affine_map<(d0, d0) -> (d0)>} : () -> ()

// -----

// An affine map with a product of dimensions.
// expected-error @below {{non-affine expression: at least one of the multiply operands has to be either a constant or symbolic}}
"t.attribute"() {value = affine_map<(d0, d1) -> (d0 * d1)>} : () -> ()

// -----

// An affine set without a comparison.
// expected-error @below {{expected '== affine-expr' or '>= affine-expr' at end of affine constraint}}
"t.attribute"() {value = affine_set<(d0) : (d0)>} : () -> ()

// -----

// A stride that is no integer.
// expected-error @below {{expected a 64-bit signed integer or '?'}}
"t.attribute"() {value = strided<[a]>} : () -> ()

// -----

// An undefined alias.
// expected-error @below {{undefined symbol alias id 'undefined'}}
"t.attribute"() {value = #undefined} : () -> ()

// -----

// Minus zero is out of range for every integer type: as a splat,
// expected-error @below {{integer constant out of range for type}}
"t.attribute"() {value = dense<-0> : tensor<i32>} : () -> ()

// -----

// among other elements,
// expected-error @below {{integer constant out of range for type}}
"t.attribute"() {value = dense<[1, -0]> : tensor<2xi32>} : () -> ()

// -----

// and in an array.
// expected-error @below {{integer constant out of range}}
"t.attribute"() {value = array<i32: -0, 3>} : () -> ()
