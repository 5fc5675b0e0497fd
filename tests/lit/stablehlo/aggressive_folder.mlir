// RUN: sdy-opt %s -stablehlo-aggressive-folder=fold-op-element-limit=8 -split-input-file | filecheck %s
// RUN: sdy-opt %s "-stablehlo-aggressive-folder=optimize-float=false assume-no-undeclared-side-effects=true" -split-input-file | filecheck %s --check-prefix=OTHER

// CHECK-LABEL: func.func @floats(
// CHECK-DAG:     stablehlo.constant dense<[-1.000000e+00, 2.500000e+00]> : tensor<2xf32>
// CHECK-DAG:     %[[ABS:.*]] = stablehlo.constant dense<[1.000000e+00, 2.500000e+00]> : tensor<2xf32>
// CHECK-DAG:     %[[NEG:.*]] = stablehlo.constant dense<[1.000000e+00, -2.500000e+00]> : tensor<2xf32>
// CHECK-DAG:     %[[EVEN:.*]] = stablehlo.constant dense<[-1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-DAG:     %[[AWAY:.*]] = stablehlo.constant dense<[-1.000000e+00, 3.000000e+00]> : tensor<2xf32>
// CHECK-DAG:     %[[SQRT:.*]] = stablehlo.constant dense<[1.000000e+00, 1.58113885]> : tensor<2xf32>
// CHECK-DAG:     %[[TANH:.*]] = stablehlo.constant dense<[-0.761594176, 0.986614286]> : tensor<2xf32>
// CHECK-DAG:     %[[INT:.*]] = stablehlo.constant dense<[-1, 2]> : tensor<2xi32>
// CHECK:         %[[LOG:.*]] = stablehlo.log
// CHECK-NEXT:    return %[[ABS]], %[[NEG]], %[[EVEN]], %[[AWAY]], %[[SQRT]], %[[TANH]], %[[INT]], %[[LOG]]
// OTHER-LABEL: func.func @floats(
// OTHER:         stablehlo.abs
// OTHER:         stablehlo.convert
func.func @floats() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi32>, tensor<2xf32>) {
  %c = stablehlo.constant dense<[-1.0, 2.5]> : tensor<2xf32>
  %0 = stablehlo.abs %c : tensor<2xf32>
  %1 = stablehlo.negate %c : tensor<2xf32>
  %2 = stablehlo.round_nearest_even %c : tensor<2xf32>
  %3 = stablehlo.round_nearest_afz %c : tensor<2xf32>
  %4 = stablehlo.sqrt %0 : tensor<2xf32>
  %5 = stablehlo.tanh %c : tensor<2xf32>
  %6 = stablehlo.convert %c : (tensor<2xf32>) -> tensor<2xi32>
  %7 = stablehlo.log %c : tensor<2xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi32>, tensor<2xf32>
}

// -----

// CHECK-LABEL: func.func @elements(
// CHECK-DAG:     %[[R:.*]] = stablehlo.constant dense<{{.*}}[3, 2, 1], [6, 5, 4]{{.*}}> : tensor<2x3xi8>
// CHECK-DAG:     %[[T:.*]] = stablehlo.constant dense<{{.*}}[1, 4], [2, 5], [3, 6]{{.*}}> : tensor<3x2xi8>
// CHECK-DAG:     %[[N:.*]] = stablehlo.constant dense<{{.*}}[-2, -3, -4], [-5, -6, -7]{{.*}}> : tensor<2x3xi8>
// CHECK-DAG:     %[[X:.*]] = stablehlo.constant dense<0> : tensor<2x3xi8>
// CHECK-DAG:     %[[I:.*]] = stablehlo.constant dense<0> : tensor<1x1xi32>
// CHECK-DAG:     %[[P:.*]] = stablehlo.constant dense<false> : tensor<i1>
// CHECK:         %[[C:.*]] = stablehlo.concatenate
// CHECK-NEXT:    return %[[R]], %[[T]], %[[N]], %[[X]], %[[I]], %[[P]], %[[C]]
func.func @elements() -> (tensor<2x3xi8>, tensor<3x2xi8>, tensor<2x3xi8>, tensor<2x3xi8>, tensor<1x1xi32>, tensor<i1>, tensor<4x3xi8>) {
  %c = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>
  %t = stablehlo.constant dense<true> : tensor<i1>
  %0 = stablehlo.reverse %c, dims = [1] : tensor<2x3xi8>
  %1 = stablehlo.transpose %c, dims = [1, 0] : (tensor<2x3xi8>) -> tensor<3x2xi8>
  %2 = stablehlo.not %c : tensor<2x3xi8>
  %3 = stablehlo.xor %c, %c : tensor<2x3xi8>
  %4 = stablehlo.iota dim = 0 : tensor<1x1xi32>
  %5 = stablehlo.not %t : tensor<i1>
  // Twelve elements are more than the limit.
  %6 = stablehlo.concatenate %c, %0, dim = 0 : (tensor<2x3xi8>, tensor<2x3xi8>) -> tensor<4x3xi8>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<2x3xi8>, tensor<3x2xi8>, tensor<2x3xi8>, tensor<2x3xi8>, tensor<1x1xi32>, tensor<i1>, tensor<4x3xi8>
}

// -----

// CHECK-LABEL: func.func @regions(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<f32>)
// CHECK-DAG:     %[[F:.*]] = stablehlo.constant dense<false> : tensor<2xi1>
// CHECK:         %[[T:.*]] = stablehlo.tanh %[[X]]
// CHECK-NEXT:    return %[[T]], %[[X]], %[[X]], %[[Y]], %[[F]]
func.func @regions(%x: tensor<4xf32>, %y: tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<2xi1>) {
  %seven = stablehlo.constant dense<7> : tensor<i32>
  %true = stablehlo.constant dense<true> : tensor<2x4xi1>
  %false = stablehlo.constant dense<false> : tensor<i1>
  // An index out of bounds selects the last branch.
  %0 = "stablehlo.case"(%seven) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    %t = stablehlo.tanh %x : tensor<4xf32>
    stablehlo.return %t : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  %1 = stablehlo.while(%i = %x) : tensor<4xf32>
  cond {
    stablehlo.return %false : tensor<i1>
  } do {
    %t = stablehlo.tanh %i : tensor<4xf32>
    stablehlo.return %t : tensor<4xf32>
  }
  %2 = stablehlo.reduce(%x init: %y) applies stablehlo.add across dimensions = [] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %z = stablehlo.constant dense<0.0> : tensor<4x4xf32>
  %3 = stablehlo.reduce(%x init: %y) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    stablehlo.return %y : tensor<f32>
  }
  %4 = stablehlo.reduce(%true init: %false) applies stablehlo.and across dimensions = [1] : (tensor<2x4xi1>, tensor<i1>) -> tensor<2xi1>
  return %0, %1, %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<2xi1>
}

// Unused loops that do not run stay if a call in them may have effects, unless it is assumed to have none.
// CHECK-LABEL: func.func @effects(
// CHECK:         stablehlo.while
// CHECK:         "stablehlo.case"
// OTHER-LABEL: func.func @effects(
// OTHER-NOT:     stablehlo.while
// OTHER:         "stablehlo.case"
func.func private @callee(tensor<4xf32>) -> tensor<4xf32>
func.func @effects(%x: tensor<4xf32>) -> tensor<4xf32> {
  %false = stablehlo.constant dense<false> : tensor<i1>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.while(%i = %x) : tensor<4xf32>
  cond {
    stablehlo.return %false : tensor<i1>
  } do {
    %1 = func.call @callee(%i) : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }
  %1 = "stablehlo.case"(%zero) ({
    %2 = func.call @callee(%x) : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %2 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// The result of a reduction of no elements is its initial value, whatever its body returns.
// CHECK-LABEL: func.func @reduce_nothing(
// CHECK:         stablehlo.reduce
func.func @reduce_nothing(%x: tensor<0xi32>, %init: tensor<i32>, %y: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.reduce(%x init: %init) across dimensions = [0] : (tensor<0xi32>, tensor<i32>) -> tensor<i32>
    reducer(%a: tensor<i32>, %b: tensor<i32>) {
    stablehlo.return %y : tensor<i32>
  }
  return %0 : tensor<i32>
}
