// RUN: sdy-opt %s -loop-invariant-code-motion=stablehlo-loops=true | filecheck %s
// RUN: sdy-opt %s -loop-invariant-code-motion | filecheck %s --check-prefix=DEFAULT

// What is hoisted lets its users follow; inner loops come first.
// CHECK-LABEL: func.func @nested(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>, %[[W:.*]]: tensor<4xf32>, %[[N:.*]]: tensor<i32>)
// CHECK-NEXT:    %[[T:.*]] = stablehlo.tanh %[[W]]
// CHECK-NEXT:    %[[S:.*]] = stablehlo.sine %[[T]]
// CHECK-NEXT:    %{{.*}} = stablehlo.while
// CHECK:         do {
// CHECK-NEXT:      %[[U:.*]] = stablehlo.cosine
// CHECK-NEXT:      %{{.*}} = stablehlo.while
// CHECK:           do {
// CHECK-NEXT:        stablehlo.add %{{.*}}, %[[S]]
// CHECK-NEXT:        stablehlo.add %{{.*}}, %[[U]]
// DEFAULT-LABEL: func.func @nested(
// DEFAULT-NEXT:    stablehlo.while
func.func @nested(%x: tensor<4xf32>, %w: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
  %0:2 = stablehlo.while(%i = %n, %y = %x) : tensor<i32>, tensor<4xf32>
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %1:2 = stablehlo.while(%j = %n, %z = %y) : tensor<i32>, tensor<4xf32>
    cond {
      %p = stablehlo.compare LT, %j, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %t = stablehlo.tanh %w : tensor<4xf32>
      %s = stablehlo.sine %t : tensor<4xf32>
      %u = stablehlo.cosine %y : tensor<4xf32>
      %a = stablehlo.add %z, %s : tensor<4xf32>
      %b = stablehlo.add %a, %u : tensor<4xf32>
      stablehlo.return %j, %b : tensor<i32>, tensor<4xf32>
    }
    stablehlo.return %i, %1#1 : tensor<i32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}

// Effects, and slices of dynamic tensors that a loop of zero trips would not read, stay. So do terminators.
// CHECK-LABEL: func.func @stays(
// CHECK-NEXT:    %{{.*}} = stablehlo.reduce
// CHECK-NEXT:    stablehlo.while
// CHECK:         do {
// CHECK-NEXT:      stablehlo.custom_call
// CHECK-NEXT:      stablehlo.add %{{.*}}, %{{.*}} : tensor<?xf32>
// CHECK-NEXT:      stablehlo.return
func.func @stays(%x: tensor<4xf32>, %d: tensor<?xf32>, %e: tensor<?xf32>, %n: tensor<i32>, %z: tensor<f32>) -> tensor<i32> {
  %0 = stablehlo.while(%i = %n) : tensor<i32>
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.custom_call @send(%x) {has_side_effect = true} : (tensor<4xf32>) -> ()
    %1 = stablehlo.add %d, %e : tensor<?xf32>
    %2 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    stablehlo.return %n : tensor<i32>
  }
  return %0 : tensor<i32>
}
