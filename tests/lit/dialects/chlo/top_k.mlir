// RUN: sdy-opt %s | filecheck %s --check-prefixes=CHECK,STABLE
// RUN: sdy-opt %s --sdy-version=jaxlib-0.10.2 | filecheck %s --check-prefixes=CHECK,BEFORE

// The results have names.
// CHECK-LABEL: func.func @top_k
func.func @top_k(%x: tensor<3x8xf32>, %y: tensor<?x8xf32, #stablehlo.bounds<3, ?>>) {
  // CHECK: %values, %indices = chlo.top_k(%{{.*}}, k = 2) : tensor<3x8xf32> -> (tensor<3x2xf32>, tensor<3x2xi32>)
  %0:2 = chlo.top_k(%x, k = 2) : tensor<3x8xf32> -> (tensor<3x2xf32>, tensor<3x2xi32>)
  // CHECK: %values_0, %indices_1 = chlo.top_k(%{{.*}}, k = 8) {note}
  // CHECK-SAME: -> (tensor<?x8xf32, #stablehlo.bounds<3, ?>>, tensor<?x8xi32, #stablehlo.bounds<3, ?>>)
  %1:2 = chlo.top_k(%y, k = 8) {note} : tensor<?x8xf32, #stablehlo.bounds<3, ?>>
    -> (tensor<?x8xf32, #stablehlo.bounds<3, ?>>, tensor<?x8xi32, #stablehlo.bounds<3, ?>>)
  return
}

// Equal elements keep their order unless `is_stable` is false. To older releases, it is any attribute.
// CHECK-LABEL: func.func @unstable
func.func @unstable(%x: tensor<3x8xf32>) {
  // STABLE: chlo.top_k(%{{.*}}, k = 2, is_stable = false) {note} :
  // BEFORE: chlo.top_k(%{{.*}}, k = 2) {is_stable = false, note} :
  %0:2 = chlo.top_k(%x, k = 2) {is_stable = false, note} : tensor<3x8xf32> -> (tensor<3x2xf32>, tensor<3x2xi32>)
  // STABLE: chlo.top_k(%{{.*}}, k = 3) :
  // BEFORE: chlo.top_k(%{{.*}}, k = 3) {is_stable = true} :
  %1:2 = chlo.top_k(%x, k = 3) {is_stable = true} : tensor<3x8xf32> -> (tensor<3x3xf32>, tensor<3x3xi32>)
  return
}
