// RUN: sdy-opt %s | filecheck %s
// RUN: sdy-opt %s -canonicalize | filecheck %s --check-prefix=FOLDED

// CHECK-LABEL: func.func @constant
func.func @constant() -> (tensor<2xf32>, tensor<i1>) {
  // CHECK: chlo.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  %0 = chlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  // CHECK: chlo.constant {note} dense<true> : tensor<i1>
  %1 = chlo.constant {note} dense<true> : tensor<i1>
  return %0, %1 : tensor<2xf32>, tensor<i1>
}

// constant_like folds only if the shape is static.
// CHECK-LABEL: func.func @constant_like
// FOLDED-LABEL: func.func @constant_like
func.func @constant_like(%x: tensor<3xf32>, %y: tensor<?xf32>, %i: tensor<3xi8>) -> (tensor<3xf32>, tensor<?xf32>, tensor<3xi8>) {
  // CHECK: "chlo.constant_like"(%{{.*}}) <{value = 3.000000e+00 : f32}> : (tensor<3xf32>) -> tensor<3xf32>
  // FOLDED-DAG: chlo.constant dense<3.000000e+00> : tensor<3xf32>
  %0 = "chlo.constant_like"(%x) {value = 3.0 : f32} : (tensor<3xf32>) -> tensor<3xf32>
  // FOLDED-DAG: "chlo.constant_like"(%{{.*}}) <{value = 3.000000e+00 : f32}> : (tensor<?xf32>) -> tensor<?xf32>
  %1 = "chlo.constant_like"(%y) {value = 3.0 : f32} : (tensor<?xf32>) -> tensor<?xf32>
  // FOLDED-DAG: chlo.constant dense<-1> : tensor<3xi8>
  %2 = "chlo.constant_like"(%i) {value = -1 : i8} : (tensor<3xi8>) -> tensor<3xi8>
  return %0, %1, %2 : tensor<3xf32>, tensor<?xf32>, tensor<3xi8>
}

// A typed string is a valid value, but not a number that fills a tensor.
// FOLDED-LABEL: func.func @string
func.func @string(%x: tensor<3xi32>) -> tensor<3xi32> {
  // FOLDED-NEXT: "chlo.constant_like"(%arg0) <{value = "text" : i32}> : (tensor<3xi32>) -> tensor<3xi32>
  %0 = "chlo.constant_like"(%x) {value = "text" : i32} : (tensor<3xi32>) -> tensor<3xi32>
  return %0 : tensor<3xi32>
}

// Constants move to the right of commutative operations.
// FOLDED-LABEL: func.func @commutes
func.func @commutes(%x: tensor<2xf32>) -> tensor<2xf32> {
  // FOLDED: %[[CONSTANT:.*]] = chlo.constant
  %0 = chlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  // FOLDED: chlo.broadcast_add %arg0, %[[CONSTANT]]
  %1 = chlo.broadcast_add %0, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
