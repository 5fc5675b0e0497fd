// RUN: sdy-opt %s --allow-unregistered-dialect | filecheck %s
// RUN: sdy-opt %s --allow-unregistered-dialect | sdy-opt --allow-unregistered-dialect | filecheck %s
// RUN: sdy-opt %s --allow-unregistered-dialect --mlir-elide-resource-strings-if-larger=20 | filecheck %s --check-prefix=ELIDED
// RUN: sdy-opt %s --allow-unregistered-dialect --verify-roundtrip | filecheck %s

// Elements in a resource section, by key.
// CHECK: "t.resource"() {a = dense_resource<small> : tensor<1xi32>, b = dense_resource<"not a word"> : tensor<4xi32>} : () -> ()
// ELIDED: "t.resource"() {a = dense_resource<small> : tensor<1xi32>, b = dense_resource<"not a word"> : tensor<4xi32>} : () -> ()
"t.resource"() {a = dense_resource<small> : tensor<1xi32>, b = dense_resource<"not a word"> : tensor<4xi32>} : () -> ()

// A key without a blob and an unused blob are allowed. Only used blobs are printed.
// CHECK: "t.resource"() {a = dense_resource<nowhere> : tensor<1xi32>} : () -> ()
"t.resource"() {a = dense_resource<nowhere> : tensor<1xi32>} : () -> ()

// CHECK:      {-#
// CHECK-NEXT:   dialect_resources: {
// CHECK-NEXT:     builtin: {
// CHECK-NEXT:       small: "0x04000000FF000000",
// CHECK-NEXT:       "not a word": "0x0400000001000000020000000300000004000000"
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: #-}

// Blobs above the limit are elided.
// ELIDED:      {-#
// ELIDED-NEXT:   dialect_resources: {
// ELIDED-NEXT:     builtin: {
// ELIDED-NEXT:       small: "0x04000000FF000000"
// ELIDED-NEXT:     }
// ELIDED-NEXT:   }
// ELIDED-NEXT: #-}

{-#
  dialect_resources: {
    builtin: {
      small: "0x04000000ff000000",
      "not a word": "0x0400000001000000020000000300000004000000",
      unused: "0x0400000001000000"
    }
  }
#-}
