// RUN: sdy-opt %s --allow-unregistered-dialect --mlir-print-local-scope | filecheck %s

// A map of nothing.
// CHECK: "t.attribute"() {value = affine_map<() -> ()>} : () -> ()
"t.attribute"() {value = affine_map<() -> ()>} : () -> ()

// A map changes places.
// CHECK: "t.attribute"() {value = affine_map<(d0, d1) -> (d1, d0)>} : () -> ()
"t.attribute"() {value = affine_map<(d0, d1) -> (d1, d0)>} : () -> ()

// Dimensions and symbols get new names.
// CHECK: "t.attribute"() {value = affine_map<(d0, d1)[s0] -> (d0 + s0, d1 * 2)>} : () -> ()
"t.attribute"() {value = affine_map<(i, j)[n] -> (i + n, j * 2)>} : () -> ()

// Division, both ways, and what is left.
// CHECK: "t.attribute"() {value = affine_map<(d0) -> (d0 floordiv 4, d0 ceildiv 4, d0 mod 4)>} : () -> ()
"t.attribute"() {value = affine_map<(d0) -> (d0 floordiv 4, d0 ceildiv 4, d0 mod 4)>} : () -> ()

// A difference.
// CHECK: "t.attribute"() {value = affine_map<(d0, d1) -> (d0 - d1 - 3)>} : () -> ()
"t.attribute"() {value = affine_map<(d0, d1) -> (d0 - d1 - 3)>} : () -> ()

// Less than zero.
// CHECK: "t.attribute"() {value = affine_map<(d0) -> (-d0)>} : () -> ()
"t.attribute"() {value = affine_map<(d0) -> (-d0)>} : () -> ()

// What can be worked out is worked out.
// CHECK: "t.attribute"() {value = affine_map<(d0) -> ((d0 + 1) * 2 + 12)>} : () -> ()
"t.attribute"() {value = affine_map<(d0) -> ((d0 + 1) * 2 + 3 * 4)>} : () -> ()

// Brackets stay where they must.
// CHECK: "t.attribute"() {value = affine_map<(d0)[s0] -> ((d0 + s0) * 2, d0 * s0)>} : () -> ()
"t.attribute"() {value = affine_map<(d0)[s0] -> ((d0 + s0) * 2, d0 * s0)>} : () -> ()

// Places between bounds.
// CHECK: "t.attribute"() {value = affine_set<(d0) : (d0 >= 0, -d0 + 9 >= 0)>} : () -> ()
"t.attribute"() {value = affine_set<(d0) : (d0 >= 0, -d0 + 9 >= 0)>} : () -> ()

// Places that are equal.
// CHECK: "t.attribute"() {value = affine_set<(d0, d1)[s0] : (d0 - d1 == 0, -d0 + s0 >= 0)>} : () -> ()
"t.attribute"() {value = affine_set<(d0, d1)[s0] : (d0 - d1 == 0, s0 - d0 >= 0)>} : () -> ()

// A bound on the left.
// CHECK: "t.attribute"() {value = affine_set<(d0) : (-d0 + 4 >= 0)>} : () -> ()
"t.attribute"() {value = affine_set<(d0) : (4 >= d0)>} : () -> ()
