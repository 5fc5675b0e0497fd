// RUN: sdy-opt %s | filecheck %s
// RUN: sdy-opt %s -mlir-print-op-generic | filecheck %s --check-prefix=GENERIC

// The region is implied, and printed in the generic form.
// CHECK-LABEL: func.func @matmul
func.func @matmul(%a: tensor<4x6xf32>, %b: tensor<6x8xf32>, %c: tensor<4x8xf32>, %x: f32) -> tensor<4x8xf32> {
  // CHECK-NEXT: %[[F:.*]] = linalg.fill ins(%arg3 : f32) outs(%arg2 : tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: linalg.matmul {k} ins(%arg0, %arg1 : tensor<4x6xf32>, tensor<6x8xf32>) outs(%[[F]] : tensor<4x8xf32>) -> tensor<4x8xf32>
  // GENERIC: "linalg.matmul"
  // GENERIC: "arith.mulf"
  // GENERIC-NEXT: "arith.addf"
  // GENERIC-NEXT: "linalg.yield"
  // GENERIC-NEXT: {k, linalg.memoized_indexing_maps = [#map, #map1, #map2]}
  %0 = linalg.fill ins(%x : f32) outs(%c : tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = linalg.matmul {k} ins(%a, %b : tensor<4x6xf32>, tensor<6x8xf32>) outs(%0 : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
