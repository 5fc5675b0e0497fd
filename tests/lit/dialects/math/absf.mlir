// RUN: sdy-opt %s -canonicalize | filecheck %s

// CHECK-LABEL: func.func @absf
func.func @absf(%x: tensor<4xf32>) -> (tensor<4xf32>, f32) {
  // CHECK-DAG: %[[C:.*]] = arith.constant 2.000000e+00 : f32
  // CHECK: %[[A:.*]] = math.absf %arg0 fastmath<nnan> : tensor<4xf32>
  // CHECK-NEXT: return %[[A]], %[[C]]
  %0 = math.absf %x fastmath<nnan> : tensor<4xf32>
  %c = arith.constant -2.0 : f32
  %1 = math.absf %c : f32
  return %0, %1 : tensor<4xf32>, f32
}
