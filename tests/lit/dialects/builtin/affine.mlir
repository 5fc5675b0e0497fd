// RUN: sdy-opt %s --allow-unregistered-dialect --mlir-print-local-scope | filecheck %s

// An empty map.
// CHECK: "t.attribute"() {value = affine_map<() -> ()>} : () -> ()
"t.attribute"() {value = affine_map<() -> ()>} : () -> ()

// A permutation.
// CHECK: "t.attribute"() {value = affine_map<(d0, d1) -> (d1, d0)>} : () -> ()
"t.attribute"() {value = affine_map<(d0, d1) -> (d1, d0)>} : () -> ()

// Dimensions and symbols are renamed.
// CHECK: "t.attribute"() {value = affine_map<(d0, d1)[s0] -> (d0 + s0, d1 * 2)>} : () -> ()
"t.attribute"() {value = affine_map<(i, j)[n] -> (i + n, j * 2)>} : () -> ()

// Floor and ceiling division, and the remainder.
// CHECK: "t.attribute"() {value = affine_map<(d0) -> (d0 floordiv 4, d0 ceildiv 4, d0 mod 4)>} : () -> ()
"t.attribute"() {value = affine_map<(d0) -> (d0 floordiv 4, d0 ceildiv 4, d0 mod 4)>} : () -> ()

// A difference.
// CHECK: "t.attribute"() {value = affine_map<(d0, d1) -> (d0 - d1 - 3)>} : () -> ()
"t.attribute"() {value = affine_map<(d0, d1) -> (d0 - d1 - 3)>} : () -> ()

// A negated dimension.
// CHECK: "t.attribute"() {value = affine_map<(d0) -> (-d0)>} : () -> ()
"t.attribute"() {value = affine_map<(d0) -> (-d0)>} : () -> ()

// Constant expressions are folded.
// CHECK: "t.attribute"() {value = affine_map<(d0) -> ((d0 + 1) * 2 + 12)>} : () -> ()
"t.attribute"() {value = affine_map<(d0) -> ((d0 + 1) * 2 + 3 * 4)>} : () -> ()

// A number minus its quotient times the divisor is a remainder.
// CHECK: "t.attribute"() {value = affine_map<(d0) -> (d0 mod 4)>} : () -> ()
"t.attribute"() {value = affine_map<(d0) -> (d0 - (d0 floordiv 4) * 4)>} : () -> ()
// CHECK: "t.attribute"() {value = affine_map<(d0)[s0] -> (d0 mod s0)>} : () -> ()
"t.attribute"() {value = affine_map<(d0)[s0] -> (d0 - (d0 floordiv s0) * s0)>} : () -> ()

// It is none with another divisor, or the quotient of another number.
// CHECK: "t.attribute"() {value = affine_map<(d0, d1) -> (d0 - (d0 floordiv 4) * 3, d0 - (d1 floordiv 4) * 4)>} : () -> ()
"t.attribute"() {value = affine_map<(d0, d1) -> (d0 - (d0 floordiv 4) * 3, d0 - (d1 floordiv 4) * 4)>} : () -> ()

// A sum with a quotient and a constant is no remainder.
// CHECK: "t.attribute"() {value = affine_map<(d0) -> (d0 + d0 floordiv 4 - 4)>} : () -> ()
"t.attribute"() {value = affine_map<(d0) -> (d0 + (d0 floordiv 4 - 4))>} : () -> ()

// The quotient of a multiple of 4 by 2 is even, so its remainder modulo 2 is 0.
// CHECK: "t.attribute"() {value = affine_map<(d0) -> (0)>} : () -> ()
"t.attribute"() {value = affine_map<(d0) -> ((((d0 * 8) mod 12) floordiv 2) mod 2)>} : () -> ()

// Parentheses are kept where necessary.
// CHECK: "t.attribute"() {value = affine_map<(d0)[s0] -> ((d0 + s0) * 2, d0 * s0)>} : () -> ()
"t.attribute"() {value = affine_map<(d0)[s0] -> ((d0 + s0) * 2, d0 * s0)>} : () -> ()

// Inequality constraints.
// CHECK: "t.attribute"() {value = affine_set<(d0) : (d0 >= 0, -d0 + 9 >= 0)>} : () -> ()
"t.attribute"() {value = affine_set<(d0) : (d0 >= 0, -d0 + 9 >= 0)>} : () -> ()

// An equality constraint.
// CHECK: "t.attribute"() {value = affine_set<(d0, d1)[s0] : (d0 - d1 == 0, -d0 + s0 >= 0)>} : () -> ()
"t.attribute"() {value = affine_set<(d0, d1)[s0] : (d0 - d1 == 0, s0 - d0 >= 0)>} : () -> ()

// A bound on the left-hand side.
// CHECK: "t.attribute"() {value = affine_set<(d0) : (-d0 + 4 >= 0)>} : () -> ()
"t.attribute"() {value = affine_set<(d0) : (4 >= d0)>} : () -> ()
