// RUN: sdy-opt %s --verify-roundtrip | filecheck %s

// CHECK: func.func @named(%arg0: tensor<2xf32>)
func.func @named(%value: tensor<2xf32>) -> tensor<2xf32> {
  return %value : tensor<2xf32>
}
