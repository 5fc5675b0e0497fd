// RUN: sdy-opt %s | filecheck %s

// One type is printed if operand and result have the same type.
// CHECK-LABEL: func.func @alike
func.func @alike(%x: tensor<4xf32>) {
  // CHECK: stablehlo.abs %{{.*}} : tensor<4xf32>
  %0 = stablehlo.abs %x : tensor<4xf32>
  // CHECK: stablehlo.cbrt %{{.*}} : tensor<4xf32>
  %1 = stablehlo.cbrt %x : tensor<4xf32>
  // CHECK: stablehlo.ceil %{{.*}} : tensor<4xf32>
  %2 = stablehlo.ceil %x : tensor<4xf32>
  // CHECK: stablehlo.cosine %{{.*}} : tensor<4xf32>
  %3 = stablehlo.cosine %x : tensor<4xf32>
  // CHECK: stablehlo.exponential %{{.*}} : tensor<4xf32>
  %4 = stablehlo.exponential %x : tensor<4xf32>
  // CHECK: stablehlo.exponential_minus_one %{{.*}} : tensor<4xf32>
  %5 = stablehlo.exponential_minus_one %x : tensor<4xf32>
  // CHECK: stablehlo.floor %{{.*}} : tensor<4xf32>
  %6 = stablehlo.floor %x : tensor<4xf32>
  // CHECK: stablehlo.log %{{.*}} : tensor<4xf32>
  %7 = stablehlo.log %x : tensor<4xf32>
  // CHECK: stablehlo.log_plus_one %{{.*}} : tensor<4xf32>
  %8 = stablehlo.log_plus_one %x : tensor<4xf32>
  // CHECK: stablehlo.logistic %{{.*}} : tensor<4xf32>
  %9 = stablehlo.logistic %x : tensor<4xf32>
  // CHECK: stablehlo.negate %{{.*}} : tensor<4xf32>
  %10 = stablehlo.negate %x : tensor<4xf32>
  // CHECK: stablehlo.round_nearest_afz %{{.*}} : tensor<4xf32>
  %11 = stablehlo.round_nearest_afz %x : tensor<4xf32>
  // CHECK: stablehlo.round_nearest_even %{{.*}} : tensor<4xf32>
  %12 = stablehlo.round_nearest_even %x : tensor<4xf32>
  // CHECK: stablehlo.rsqrt %{{.*}} : tensor<4xf32>
  %13 = stablehlo.rsqrt %x : tensor<4xf32>
  // CHECK: stablehlo.sign %{{.*}} : tensor<4xf32>
  %14 = stablehlo.sign %x : tensor<4xf32>
  // CHECK: stablehlo.sine %{{.*}} : tensor<4xf32>
  %15 = stablehlo.sine %x : tensor<4xf32>
  // CHECK: stablehlo.sqrt %{{.*}} : tensor<4xf32>
  %16 = stablehlo.sqrt %x : tensor<4xf32>
  // CHECK: stablehlo.tan %{{.*}} : tensor<4xf32>
  %17 = stablehlo.tan %x : tensor<4xf32>
  // CHECK: stablehlo.tanh %{{.*}} : tensor<4xf32>
  %18 = stablehlo.tanh %x : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @bits
func.func @bits(%x: tensor<4xi32>) {
  // CHECK: stablehlo.count_leading_zeros %{{.*}} : tensor<4xi32>
  %0 = stablehlo.count_leading_zeros %x : tensor<4xi32>
  // CHECK: stablehlo.not %{{.*}} : tensor<4xi32>
  %1 = stablehlo.not %x : tensor<4xi32>
  // CHECK: stablehlo.popcnt %{{.*}} : tensor<4xi32>
  %2 = stablehlo.popcnt %x : tensor<4xi32>
  return
}

// A function type is printed if they differ.
// CHECK-LABEL: func.func @different_sizes
func.func @different_sizes(%x: tensor<?xf32>) {
  // CHECK: stablehlo.tanh %{{.*}} : (tensor<?xf32>) -> tensor<4xf32>
  %0 = stablehlo.tanh %x : (tensor<?xf32>) -> tensor<4xf32>
  return
}

// A function type with equal types is printed as one type.
// CHECK-LABEL: func.func @shortened
func.func @shortened(%x: tensor<4xf32>) {
  // CHECK: stablehlo.tanh %{{.*}} : tensor<4xf32>
  %0 = stablehlo.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// Other attributes are printed before the type.
// CHECK-LABEL: func.func @attributes
func.func @attributes(%x: tensor<4xf32>) {
  // CHECK: stablehlo.sine %{{.*}} {a = 1 : i32, b} : tensor<4xf32>
  %0 = stablehlo.sine %x {b, a = 1 : i32} : tensor<4xf32>
  return
}

// The default result accuracy is not printed.
// CHECK-LABEL: func.func @accuracy
func.func @accuracy(%x: tensor<4xf32>) {
  // CHECK: stablehlo.exponential %{{.*}} {result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-01, rtol = 1.000000e-05, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
  %0 = stablehlo.exponential %x {result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-01, rtol = 1.000000e-05, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
  // CHECK: stablehlo.exponential %{{.*}} {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<4xf32>
  %1 = stablehlo.exponential %x {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<4xf32>
  // CHECK: stablehlo.exponential %{{.*}} : tensor<4xf32>
  %2 = stablehlo.exponential %x {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<DEFAULT>>} : tensor<4xf32>
  return
}
