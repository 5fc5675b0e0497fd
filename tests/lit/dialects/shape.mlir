// RUN: sdy-opt %s | filecheck %s
// RUN: sdy-opt %s --mlir-print-op-generic | sdy-opt | filecheck %s
// RUN: sdy-opt %s -canonicalize | filecheck %s --check-prefix=FOLDED

// CHECK-LABEL: func.func @shapes(
// CHECK-NEXT:    %[[A:.*]] = shape.shape_of %{{.*}} : tensor<?x4xf32> -> tensor<2xindex>
// CHECK-NEXT:    %[[B:.*]] = shape.shape_of %{{.*}} : tensor<?xf32> -> tensor<1xindex>
// CHECK-NEXT:    %[[SHAPE:.*]] = shape.broadcast %[[A]], %[[B]] : tensor<2xindex>, tensor<1xindex> -> tensor<2xindex>
// CHECK-NEXT:    %[[WITNESS:.*]] = shape.cstr_broadcastable %[[A]], %[[B]] : tensor<2xindex>, tensor<1xindex>
// CHECK-NEXT:    %{{.*}} = shape.assuming %[[WITNESS]] -> (tensor<2xindex>) {
// CHECK-NEXT:      shape.assuming_yield %[[SHAPE]] : tensor<2xindex>
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[TRUE:.*]] = shape.const_witness true
// CHECK-NEXT:    shape.assuming %[[TRUE]] {
// CHECK-NEXT:    }
func.func @shapes(%x: tensor<?x4xf32>, %y: tensor<?xf32>) -> tensor<2xindex> {
  %0 = shape.shape_of %x : tensor<?x4xf32> -> tensor<2xindex>
  %1 = shape.shape_of %y : tensor<?xf32> -> tensor<1xindex>
  %2 = shape.broadcast %0, %1 : tensor<2xindex>, tensor<1xindex> -> tensor<2xindex>
  %3 = shape.cstr_broadcastable %0, %1 : tensor<2xindex>, tensor<1xindex>
  %4 = shape.assuming %3 -> (tensor<2xindex>) {
    shape.assuming_yield %2 : tensor<2xindex>
  }
  %5 = shape.const_witness true
  shape.assuming %5 {
  }
  return %4 : tensor<2xindex>
}

// CHECK-LABEL: func.func @constants(
// CHECK-NEXT:    shape.const_shape [4, 8] : tensor<2xindex>
// CHECK-NEXT:    shape.const_shape  {a = 1 : i64}[] : !shape.shape
// CHECK-NEXT:    shape.shape_of %{{.*}} : tensor<4x8xf32> -> tensor<2xindex>
// CHECK-NEXT:    arith.index_cast %{{.*}} : tensor<2xindex> to tensor<2xi64>
// CHECK-NEXT:    %from_elements = tensor.from_elements %{{.*}}, %{{.*}} : tensor<2xindex>
// FOLDED-LABEL: func.func @constants(
// FOLDED-NEXT:    %[[SHAPE:.*]] = shape.const_shape [4, 8] : tensor<2xindex>
// FOLDED:         return %[[SHAPE]], %[[SHAPE]], %{{.*}}, %{{.*}}, %{{.*}} :
func.func @constants(%x: tensor<4x8xf32>, %n: index) -> (tensor<2xindex>, tensor<2xindex>, !shape.shape, tensor<2xi64>, tensor<2xindex>) {
  %0 = shape.const_shape [4, 8] : tensor<2xindex>
  %1 = shape.const_shape {a = 1} [] : !shape.shape
  %2 = shape.shape_of %x : tensor<4x8xf32> -> tensor<2xindex>
  %3 = arith.index_cast %2 : tensor<2xindex> to tensor<2xi64>
  %4 = tensor.from_elements %n, %n : tensor<2xindex>
  return %0, %2, %1, %3, %4 : tensor<2xindex>, tensor<2xindex>, !shape.shape, tensor<2xi64>, tensor<2xindex>
}
