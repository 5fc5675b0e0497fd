// The data of resources is stored as it is, or left out.
// RUN: sdy-opt %s --emit-bytecode | sdy-opt | filecheck %s
// RUN: sdy-opt %s --emit-bytecode --elide-resource-data-from-bytecode | sdy-opt | filecheck %s --check-prefix=ELIDED

// CHECK: value = dense_resource<blob> : tensor<2xf32>
// CHECK: blob: "0x040000000000803F0000004
// ELIDED: value = dense_resource<blob> : tensor<2xf32>
// ELIDED-NOT: blob:
module attributes {x.value = dense_resource<blob> : tensor<2xf32>} {}

{-#
  dialect_resources: {
    builtin: {
      blob: "0x040000000000803F00000040"
    }
  }
#-}
