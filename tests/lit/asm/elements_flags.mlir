// RUN: sdy-opt %s --allow-unregistered-dialect --mlir-elide-elementsattrs-if-larger=3 | filecheck %s --check-prefix=ELIDED
// RUN: sdy-opt %s --allow-unregistered-dialect --mlir-print-elementsattrs-with-hex-if-larger=3 | filecheck %s --check-prefix=HEX
// RUN: sdy-opt %s --allow-unregistered-dialect | filecheck %s

// Elements up to the limits are printed as a list.
// ELIDED: "t.small"() {a = dense<[1, 2, 3]> : tensor<3xi32>} : () -> ()
// HEX: "t.small"() {a = dense<[1, 2, 3]> : tensor<3xi32>} : () -> ()
"t.small"() {a = dense<[1, 2, 3]> : tensor<3xi32>} : () -> ()

// Longer lists are elided or printed in hexadecimal.
// ELIDED: "t.large"() {a = dense_resource<__elided__> : tensor<4xi32>} : () -> ()
// HEX: "t.large"() {a = dense<"0x01000000020000000300000004000000"> : tensor<4xi32>} : () -> ()
"t.large"() {a = dense<[1, 2, 3, 4]> : tensor<4xi32>} : () -> ()

// Splats are printed in full.
// ELIDED: "t.splat"() {a = dense<1> : tensor<1000xi32>} : () -> ()
// HEX: "t.splat"() {a = dense<1> : tensor<1000xi32>} : () -> ()
"t.splat"() {a = dense<1> : tensor<1000xi32>} : () -> ()

// By default, more than a hundred elements are printed in hexadecimal.
// CHECK: "t.many"() {a = dense<"0x{{[0-9A-F]*}}"> : tensor<101xi8>} : () -> ()
"t.many"() {a = dense<[
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4,
  5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0
]> : tensor<101xi8>} : () -> ()
