// RUN: sdy-opt %s | filecheck %s
// RUN: sdy-opt %s | sdy-opt | filecheck %s

// A reducer that is one commutative operation on its arguments in order has the compact form.
// CHECK-LABEL: func.func @applies
func.func @applies(%a: tensor<4x8xf32>, %zero: tensor<f32>) -> tensor<8xf32> {
  // CHECK-NEXT: %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
  // CHECK-NEXT: return
  %0 = stablehlo.reduce(%a init: %zero) across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
   reducer(%x: tensor<f32>, %y: tensor<f32>) {
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }
  return %0 : tensor<8xf32>
}

// Attributes of the inner operation are lost in the compact form, as in StableHLO.
// CHECK-LABEL: func.func @loses_attributes
func.func @loses_attributes(%a: tensor<4xf32>, %zero: tensor<f32>) -> tensor<f32> {
  // CHECK-NEXT: applies stablehlo.maximum across dimensions = [0] {kept} :
  %0 = "stablehlo.reduce"(%a, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %max = stablehlo.maximum %x, %y {lost} : tensor<f32>
    stablehlo.return %max : tensor<f32>
  }) {kept} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// Swapped arguments or a non-commutative operation prevent the compact form.
// CHECK-LABEL: func.func @spelled_out
func.func @spelled_out(%a: tensor<4xf32>, %zero: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // CHECK-NEXT: %0 = stablehlo.reduce(%arg0 init: %arg1) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: reducer(%arg2: tensor<f32>, %arg3: tensor<f32>) {
  // CHECK-NEXT:   stablehlo.add %arg3, %arg2
  %0 = stablehlo.reduce(%a init: %zero) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
   reducer(%x: tensor<f32>, %y: tensor<f32>) {
    %sum = stablehlo.add %y, %x : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }
  // CHECK: reducer(%arg2: tensor<f32>, %arg3: tensor<f32>) {
  // CHECK-NEXT: stablehlo.subtract
  %1 = stablehlo.reduce(%a init: %zero) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
   reducer(%x: tensor<f32>, %y: tensor<f32>) {
    %difference = stablehlo.subtract %x, %y : tensor<f32>
    stablehlo.return %difference : tensor<f32>
  }
  return %0, %1 : tensor<f32>, tensor<f32>
}

// Several inputs are reduced together; each pair of arguments is an accumulator and an element.
// CHECK-LABEL: func.func @several
func.func @several(%a: tensor<4xf32>, %b: tensor<4xi32>, %f: tensor<f32>, %i: tensor<i32>) -> tensor<f32> {
  // CHECK-NEXT: %0:2 = stablehlo.reduce(%arg0 init: %arg2), (%arg1 init: %arg3) across dimensions = [0] :
  // CHECK-NEXT: reducer(%arg4: tensor<f32>, %arg6: tensor<f32>) (%arg5: tensor<i32>, %arg7: tensor<i32>) {
  %0:2 = stablehlo.reduce(%a init: %f), (%b init: %i) across dimensions = [0] : (tensor<4xf32>, tensor<4xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
   reducer(%x: tensor<f32>, %xs: tensor<f32>) (%y: tensor<i32>, %ys: tensor<i32>) {
    %sum = stablehlo.add %x, %xs : tensor<f32>
    stablehlo.return %sum, %y : tensor<f32>, tensor<i32>
  }
  return %0#0 : tensor<f32>
}

// Bounds of the remaining dimensions are kept.
// CHECK-LABEL: func.func @bounded
func.func @bounded(%a: tensor<4x?xf32, #stablehlo.bounds<?, 8>>, %zero: tensor<f32>) -> tensor<?xf32, #stablehlo.bounds<8>> {
  // CHECK-NEXT: stablehlo.reduce({{.*}} -> tensor<?xf32, #stablehlo.bounds<8>>
  %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4x?xf32, #stablehlo.bounds<?, 8>>, tensor<f32>) -> tensor<?xf32, #stablehlo.bounds<8>>
  return %0 : tensor<?xf32, #stablehlo.bounds<8>>
}

// CHECK-LABEL: func.func @window
func.func @window(%a: tensor<4x7xf32>, %zero: tensor<f32>) -> tensor<3x4xf32> {
  // CHECK-NEXT: "stablehlo.reduce_window"(%arg0, %arg1) <{padding = dense<{{\[\[}}0, 0], [1, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>}>
  %0 = "stablehlo.reduce_window"(%a, %zero) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>, padding = dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<4x7xf32>, tensor<f32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// The attributes of a sort are optional and are not filled in.
// CHECK-LABEL: func.func @sort
func.func @sort(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: "stablehlo.sort"(%arg0) ({
  %0 = "stablehlo.sort"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %less = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
