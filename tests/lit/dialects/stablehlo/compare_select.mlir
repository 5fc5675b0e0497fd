// RUN: sdy-opt %s | filecheck %s

// The direction is printed first, the optional comparison type last.
// CHECK-LABEL: func.func @compare
func.func @compare(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // CHECK: stablehlo.compare EQ, %{{.*}}, %{{.*}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %0 = stablehlo.compare EQ, %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK: stablehlo.compare NE, %{{.*}}, %{{.*}}, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %1 = stablehlo.compare NE, %x, %y, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK: stablehlo.compare LT, %{{.*}}, %{{.*}}, FLOAT {a} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %2 = stablehlo.compare LT, %x, %y, FLOAT {a} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return
}

// Two types are printed: that of the predicate and that of both values.
// CHECK-LABEL: func.func @select
func.func @select(%p: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>) {
  // CHECK: stablehlo.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<i1>, tensor<4xf32>
  %0 = stablehlo.select %p, %x, %y : tensor<i1>, tensor<4xf32>
  // CHECK: stablehlo.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<i1>, tensor<4xf32>
  %1 = stablehlo.select %p, %x, %y : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: stablehlo.select %{{.*}}, %{{.*}}, %{{.*}} : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<?xf32>
  %2 = stablehlo.select %p, %x, %y : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<?xf32>
  return
}

// The limits of a clamp may be scalars.
// CHECK-LABEL: func.func @clamp
func.func @clamp(%lo: tensor<f32>, %x: tensor<4xf32>, %hi: tensor<4xf32>) {
  // CHECK: stablehlo.clamp %{{.*}}, %{{.*}}, %{{.*}} : (tensor<f32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %0 = stablehlo.clamp %lo, %x, %hi : (tensor<f32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: stablehlo.clamp %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xf32>
  %1 = stablehlo.clamp %x, %x, %hi : tensor<4xf32>
  return
}
