// Slices and changes of the shape.
// RUN: sdy-opt %s -allow-unregistered-dialect | filecheck %s
// RUN: sdy-opt %s -allow-unregistered-dialect | sdy-opt -allow-unregistered-dialect | filecheck %s
// RUN: sdy-opt %s -allow-unregistered-dialect --mlir-print-op-generic | sdy-opt -allow-unregistered-dialect | filecheck %s

func.func @extract_slice9(%a: tensor<10x20xf32>) {
  %0 = tensor.extract_slice %a[1, 2][1, 7][2, 1] : tensor<10x20xf32> to tensor<7xf32>
  return
}

// CHECK-LABEL: func.func @extract_slice9(%arg0: tensor<10x20xf32>) {
// CHECK-NEXT:    %extracted_slice = tensor.extract_slice %arg0[1, 2] [1, 7] [2, 1] : tensor<10x20xf32> to tensor<7xf32>
// CHECK-NEXT:    return
// CHECK-NEXT:  }

func.func @expand13(%a: tensor<?xf32>, %i: index) {
  %0 = tensor.expand_shape %a [[0, 1]] output_shape [%i, %i] : tensor<?xf32> into tensor<?x?xf32>
  return
}

// CHECK-LABEL: func.func @expand13(%arg0: tensor<?xf32>, %arg1: index) {
// CHECK-NEXT:    %expanded = tensor.expand_shape %arg0 {{\[\[}}0, 1]] output_shape [%arg1, %arg1] : tensor<?xf32> into tensor<?x?xf32>
// CHECK-NEXT:    return
// CHECK-NEXT:  }
