// RUN: sdy-opt %s --allow-unregistered-dialect | filecheck %s

// A splat.
// CHECK: "t.attribute"() {value = dense<1> : tensor<4xi32>} : () -> ()
"t.attribute"() {value = dense<1> : tensor<4xi32>} : () -> ()

// A list of elements.
// CHECK: "t.attribute"() {value = dense<[1, -2, 3]> : tensor<3xi8>} : () -> ()
"t.attribute"() {value = dense<[1, -2, 3]> : tensor<3xi8>} : () -> ()

// A nested list.
// CHECK: "t.attribute"() {value = dense<{{\[\[}}1, 2], [3, 4]]> : tensor<2x2xi64>} : () -> ()
"t.attribute"() {value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>} : () -> ()

// Equal elements are printed as a splat.
// CHECK: "t.attribute"() {value = dense<7> : tensor<2x2xi32>} : () -> ()
"t.attribute"() {value = dense<[[7, 7], [7, 7]]> : tensor<2x2xi32>} : () -> ()

// No elements.
// CHECK: "t.attribute"() {value = dense<> : tensor<0x3xf32>} : () -> ()
"t.attribute"() {value = dense<> : tensor<0x3xf32>} : () -> ()

// Floats, one of them NaN.
// CHECK: "t.attribute"() {value = dense<[1.500000e+00, 0x7FC00000]> : tensor<2xf32>} : () -> ()
"t.attribute"() {value = dense<[1.5, 0x7FC00000]> : tensor<2xf32>} : () -> ()

// A float given by its bits.
// CHECK: "t.attribute"() {value = dense<1.000000e+00> : tensor<2xf32>} : () -> ()
"t.attribute"() {value = dense<0x3F800000> : tensor<2xf32>} : () -> ()

// Booleans.
// CHECK: "t.attribute"() {value = dense<[true, false]> : tensor<2xi1>} : () -> ()
"t.attribute"() {value = dense<[true, false]> : tensor<2xi1>} : () -> ()

// A complex splat.
// CHECK: "t.attribute"() {value = dense<(1.000000e+00,2.000000e+00)> : tensor<2xcomplex<f32>>} : () -> ()
"t.attribute"() {value = dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>} : () -> ()

// Complex numbers.
// CHECK: "t.attribute"() {value = dense<[(1,2), (3,4)]> : tensor<2xcomplex<i8>>} : () -> ()
"t.attribute"() {value = dense<[(1, 2), (3, 4)]> : tensor<2xcomplex<i8>>} : () -> ()

// Strings, of an unregistered type.
// CHECK: "t.attribute"() {value = dense<["a", "b\0A"]> : tensor<2x!foo.string>} : () -> ()
"t.attribute"() {value = dense<["a", "b\n"]> : tensor<2x!foo.string>} : () -> ()

// Elements given by their bytes.
// CHECK: "t.attribute"() {value = dense<[1, 2]> : tensor<2xi32>} : () -> ()
"t.attribute"() {value = dense<"0x0100000002000000"> : tensor<2xi32>} : () -> ()

// A single byte is a splat, and true unless it is 0.
// CHECK: "t.attribute"() {value = dense<true> : tensor<4xi1>} : () -> ()
"t.attribute"() {value = dense<"0x05"> : tensor<4xi1>} : () -> ()

// Elements of a vector.
// CHECK: "t.attribute"() {value = dense<1> : vector<2xi32>} : () -> ()
"t.attribute"() {value = dense<1> : vector<2xi32>} : () -> ()

// Elements of type index.
// CHECK: "t.attribute"() {value = dense<[1, 2]> : tensor<2xindex>} : () -> ()
"t.attribute"() {value = dense<[1, 2]> : tensor<2xindex>} : () -> ()

// Sparse elements.
// CHECK: "t.attribute"() {value = sparse<{{\[\[}}0, 0], [1, 2]], [1, 5]> : tensor<3x4xi32>} : () -> ()
"t.attribute"() {value = sparse<[[0, 0], [1, 2]], [1, 5]> : tensor<3x4xi32>} : () -> ()

// A single sparse element.
// CHECK: "t.attribute"() {value = sparse<0, 1> : tensor<1xi32>} : () -> ()
"t.attribute"() {value = sparse<0, 1> : tensor<1xi32>} : () -> ()

// A list of one element.
// CHECK: "t.attribute"() {value = sparse<1, 2> : tensor<2xi32>} : () -> ()
"t.attribute"() {value = sparse<[[1]], [2]> : tensor<2xi32>} : () -> ()

// Elements in a resource.
// CHECK: "t.attribute"() {value = dense_resource<key> : tensor<2xi32>} : () -> ()
"t.attribute"() {value = dense_resource<key> : tensor<2xi32>} : () -> ()
