// RUN: sdy-opt %s -cse --mlir-print-debuginfo | filecheck %s

// The first operation keeps its location.
// CHECK-LABEL: func.func @known
func.func @known(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: stablehlo.negate {{.*}} loc(#[[FIRST:.*]])
  %0 = stablehlo.negate %x : tensor<4xf32> loc("first")
  %1 = stablehlo.negate %x : tensor<4xf32> loc("second")
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// If it has none, it gets the location of the other one.
// CHECK-LABEL: func.func @unknown
func.func @unknown(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: stablehlo.negate {{.*}} loc(#[[SECOND:.*]])
  %0 = stablehlo.negate %x : tensor<4xf32> loc(unknown)
  %1 = stablehlo.negate %x : tensor<4xf32> loc("second")
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-DAG: #[[FIRST]] = loc("first")
// CHECK-DAG: #[[SECOND]] = loc("second")
