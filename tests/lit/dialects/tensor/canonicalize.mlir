// RUN: sdy-opt %s -canonicalize | filecheck %s

// Two casts are merged, unless the type between them has static sizes that neither source nor result has.
// CHECK-LABEL: func.func @casts
func.func @casts(%t: tensor<8x?xf32>) -> (tensor<8x?xf32>, tensor<8x4xf32>, tensor<?x?xf32>) {
  // CHECK-NEXT: %[[A:.*]] = tensor.cast %arg0 : tensor<8x?xf32> to tensor<8x4xf32>
  // CHECK-NEXT: %[[B:.*]] = tensor.cast %[[A]] : tensor<8x4xf32> to tensor<?x?xf32>
  // CHECK-NEXT: return %arg0, %[[A]], %[[B]]
  %a = tensor.cast %t : tensor<8x?xf32> to tensor<?x?xf32>
  %b = tensor.cast %a : tensor<?x?xf32> to tensor<8x?xf32>
  %c = tensor.cast %a : tensor<?x?xf32> to tensor<8x4xf32>
  %d = tensor.cast %c : tensor<8x4xf32> to tensor<?x?xf32>
  return %b, %c, %d : tensor<8x?xf32>, tensor<8x4xf32>, tensor<?x?xf32>
}

// Sizes are folded from types, and from the defining operations.
// CHECK-LABEL: func.func @dims
func.func @dims(%t: tensor<8x?xf32>, %i: index) -> (index, index, index) {
  // CHECK: %[[D:.*]] = tensor.dim %arg0, %c1 : tensor<8x?xf32>
  // CHECK-NEXT: return %c8, %[[D]], %arg1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tensor.dim %t, %c0 : tensor<8x?xf32>
  %b = tensor.dim %t, %c1 : tensor<8x?xf32>
  %e = tensor.empty(%i) : tensor<?x4xf32>
  %c = tensor.dim %e, %c0 : tensor<?x4xf32>
  return %a, %b, %c : index, index, index
}

// Constant offsets and sizes become static, in the result type too. A slice of all elements is the source.
// CHECK-LABEL: func.func @slices
func.func @slices(%t: tensor<8x12xf32>, %i: index) -> (tensor<?x?xf32>, tensor<8x12xf32>, tensor<2x2xf32>) {
  // CHECK: %[[S:.*]] = tensor.extract_slice %arg0[2, %arg1] [4, %arg1] [1, 1] : tensor<8x12xf32> to tensor<4x?xf32>
  // CHECK-NEXT: %[[C:.*]] = tensor.cast %[[S]] : tensor<4x?xf32> to tensor<?x?xf32>
  // CHECK-NEXT: return %[[C]], %arg0, %cst
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %a = tensor.extract_slice %t[%c2, %i] [%c4, %i] [1, 1] : tensor<8x12xf32> to tensor<?x?xf32>
  %b = tensor.extract_slice %t[0, 0] [8, 12] [1, 1] : tensor<8x12xf32> to tensor<8x12xf32>
  %ones = arith.constant dense<1.0> : tensor<4x4xf32>
  %c = tensor.extract_slice %ones[0, 0] [2, 2] [1, 1] : tensor<4x4xf32> to tensor<2x2xf32>
  return %a, %b, %c : tensor<?x?xf32>, tensor<8x12xf32>, tensor<2x2xf32>
}

// CHECK-LABEL: func.func @empty
func.func @empty(%i: index) -> (tensor<?x?xf32>, tensor<4x4xf32>) {
  // CHECK-NEXT: %[[E:.*]] = tensor.empty() : tensor<4x4xf32>
  // CHECK-NEXT: %[[F:.*]] = tensor.empty(%arg0) : tensor<4x?xf32>
  // CHECK-NEXT: %[[C:.*]] = tensor.cast %[[F]] : tensor<4x?xf32> to tensor<?x?xf32>
  // CHECK-NEXT: return %[[C]], %[[E]]
  %c4 = arith.constant 4 : index
  %a = tensor.empty(%i) : tensor<?x4xf32>
  %b = tensor.cast %a : tensor<?x4xf32> to tensor<4x4xf32>
  %c = tensor.empty(%c4, %i) : tensor<?x?xf32>
  return %c, %b : tensor<?x?xf32>, tensor<4x4xf32>
}

// CHECK-LABEL: func.func @insert_slice
func.func @insert_slice(%t: tensor<8x12xf32>, %u: tensor<4xf32>, %i: index) -> tensor<8x12xf32> {
  // CHECK-NEXT: tensor.insert_slice %arg1 into %arg0[%arg2, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<8x12xf32>
  %0 = tensor.insert_slice %u into %t[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<8x12xf32>
  return %0 : tensor<8x12xf32>
}

// Offsets, sizes and strides of slices that would end outside of the tensor stay dynamic, as do negative offsets.
// CHECK-LABEL: func.func @out_of_bounds
func.func @out_of_bounds(%t: tensor<5xf32>, %u: tensor<?xf32>) -> (tensor<?xf32>, tensor<10xf32>, tensor<?xf32>) {
  // CHECK-NEXT: %[[N:.*]] = arith.constant -3 : index
  // CHECK-NEXT: %[[C:.*]] = arith.constant 10 : index
  // CHECK-NEXT: %[[A:.*]] = tensor.extract_slice %arg0[1] [%[[C]]] [1] : tensor<5xf32> to tensor<?xf32>
  // CHECK-NEXT: %[[T:.*]] = tensor.cast %arg0 : tensor<5xf32> to tensor<?xf32>
  // CHECK-NEXT: %[[B:.*]] = tensor.extract_slice %[[T]][0] [10] [1] : tensor<?xf32> to tensor<10xf32>
  // CHECK-NEXT: %[[D:.*]] = tensor.extract_slice %arg1[%[[N]]] [1] [-3] : tensor<?xf32> to tensor<1xf32>
  %n = arith.constant -3 : index
  %c = arith.constant 10 : index
  %c1 = arith.constant 1 : index
  %a = tensor.extract_slice %t[%c1] [%c] [1] : tensor<5xf32> to tensor<?xf32>
  %cast = tensor.cast %t : tensor<5xf32> to tensor<?xf32>
  %b = tensor.extract_slice %cast[0] [10] [1] : tensor<?xf32> to tensor<10xf32>
  %d = tensor.extract_slice %u[%n] [%c1] [%n] : tensor<?xf32> to tensor<?xf32>
  return %a, %b, %d : tensor<?xf32>, tensor<10xf32>, tensor<?xf32>
}

// The element of a complex constant would be a constant of the dialect `complex`.
// CHECK-LABEL: func.func @complex
func.func @complex() -> complex<f32> {
  // CHECK: tensor.extract
  %c = arith.constant dense<(1.0, 2.0)> : tensor<complex<f32>>
  %e = tensor.extract %c[] : tensor<complex<f32>>
  return %e : complex<f32>
}
