// RUN: sdy-opt %s --allow-unregistered-dialect | filecheck %s
// RUN: not sdy-opt %s 2>&1 | filecheck %s --check-prefix=ERROR

// A dialect of which only some operations are known may have others, if unknown operations are allowed.
// CHECK: "linalg.matmul_transpose_a"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
// ERROR: error: unregistered operation 'linalg.matmul_transpose_a' found in dialect ('linalg') that does not allow unknown operations
// ERROR: help: only some operations of linalg are supported; accept others in generic form (mlir-opt --mlir-print-op-generic) with --allow-unregistered-dialect
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "linalg.matmul_transpose_a"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
