// RUN: sdy-opt %s --pass-pipeline='builtin.module(func.func(stablehlo-ext-canonicalize-from-hlo-import))' | filecheck %s

// Tuples are taken apart in the entry function, and in custom calls; tuples of all elements, and reshapes to the
// same shape, are removed.
// CHECK-LABEL: func.func @main(%arg0: tensor<8xf32> {func.kept}, %arg1: tensor<4xf32>, %arg2: tensor<2xf32>)
// CHECK-SAME:      -> (tensor<4xf32>, tensor<2xf32>, tensor<8xf32>) {
// CHECK-NEXT:    %0:2 = stablehlo.custom_call @f(%arg1, %arg2, %arg0) {attribute} : (tensor<4xf32>, tensor<2xf32>, tensor<8xf32>) -> (tensor<4xf32>, tensor<2xf32>)
// CHECK-NEXT:    return %0#0, %0#1, %arg0 : tensor<4xf32>, tensor<2xf32>, tensor<8xf32>
func.func @main(%a: tensor<8xf32> {func.kept}, %b: tuple<tensor<4xf32>, tuple<tensor<2xf32>>>) -> (tuple<tensor<4xf32>, tensor<2xf32>>, tensor<8xf32>) {
  %0 = stablehlo.reshape %a : (tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.custom_call @f(%b, %0) {attribute} : (tuple<tensor<4xf32>, tuple<tensor<2xf32>>>, tensor<8xf32>) -> tuple<tensor<4xf32>, tensor<2xf32>>
  %2 = stablehlo.get_tuple_element %1[0] : (tuple<tensor<4xf32>, tensor<2xf32>>) -> tensor<4xf32>
  %3 = stablehlo.get_tuple_element %1[1] : (tuple<tensor<4xf32>, tensor<2xf32>>) -> tensor<2xf32>
  %4 = stablehlo.tuple %2, %3 : tuple<tensor<4xf32>, tensor<2xf32>>
  return %4, %0 : tuple<tensor<4xf32>, tensor<2xf32>>, tensor<8xf32>
}

// Another function keeps its tuples.
// CHECK-LABEL: func.func @other(%arg0: tuple<tensor<4xf32>>)
// CHECK-NEXT:    return %arg0
func.func @other(%a: tuple<tensor<4xf32>>) -> tuple<tensor<4xf32>> {
  %0 = stablehlo.get_tuple_element %a[0] : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  %1 = stablehlo.tuple %0 : tuple<tensor<4xf32>>
  return %1 : tuple<tensor<4xf32>>
}
