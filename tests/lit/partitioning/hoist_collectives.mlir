// RUN: sdy-opt %s -sdy-hoist-collectives | filecheck %s
// RUN: sdy-opt %s -sdy-hoist-collectives=memory-growth=100 | filecheck %s --check-prefix=LARGE

// Collectives that compute the same in each iteration are hoisted out of loops.

// The weight is passed on unchanged. What it is converted from is hoisted too. It is live at the dot anyway.
// CHECK-LABEL: func.func @weight(
// CHECK-SAME:    %[[W:.*]]: tensor<4x16xbf16>, %[[X:.*]]: tensor<2x16xf32>
// CHECK:         %[[WIDE:.*]] = stablehlo.convert %[[W]]
// CHECK-NEXT:    %[[ALL:.*]] = "stablehlo.all_gather"(%[[WIDE]])
// CHECK-NEXT:    stablehlo.while(%[[ARG:.*]] = %[[W]], %{{.*}} = %[[X]])
// CHECK:         do {
// CHECK-NEXT:      stablehlo.dot_general %{{.*}}, %[[ALL]]
func.func @weight(%w: tensor<4x16xbf16>, %x: tensor<2x16xf32>) -> tensor<2x16xf32> {
  %r:2 = stablehlo.while(%a = %w, %b = %x) : tensor<4x16xbf16>, tensor<2x16xf32>
   cond {
    %true = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %true : tensor<i1>
  } do {
    %0 = stablehlo.convert %a : (tensor<4x16xbf16>) -> tensor<4x16xf32>
    %1 = "stablehlo.all_gather"(%0) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<4x16xf32>) -> tensor<16x16xf32>
    %2 = stablehlo.dot_general %b, %1, contracting_dims = [1] x [0] : (tensor<2x16xf32>, tensor<16x16xf32>) -> tensor<2x16xf32>
    stablehlo.return %a, %2 : tensor<4x16xbf16>, tensor<2x16xf32>
  }
  return %r#1 : tensor<2x16xf32>
}

// Two gathered weights, of which one is needed at a time. Together, or one while the other is needed, they take too
// much memory.
// CHECK-LABEL: func.func @two_weights(
// CHECK-NEXT:    stablehlo.while
// CHECK-COUNT-2:   "stablehlo.all_gather"
// LARGE-LABEL: func.func @two_weights(
// LARGE-NEXT:    "stablehlo.all_gather"
// LARGE-NEXT:    "stablehlo.all_gather"
// LARGE-NEXT:    stablehlo.while
func.func @two_weights(%v: tensor<4x16xf32>, %w: tensor<4x16xf32>, %x: tensor<2x16xf32>) -> tensor<2x16xf32> {
  %r = stablehlo.while(%b = %x) : tensor<2x16xf32>
   cond {
    %true = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %true : tensor<i1>
  } do {
    %0 = "stablehlo.all_gather"(%v) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<4x16xf32>) -> tensor<16x16xf32>
    %1 = stablehlo.dot_general %b, %0, contracting_dims = [1] x [0] : (tensor<2x16xf32>, tensor<16x16xf32>) -> tensor<2x16xf32>
    %2 = "stablehlo.all_gather"(%w) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<4x16xf32>) -> tensor<16x16xf32>
    %3 = stablehlo.dot_general %1, %2, contracting_dims = [1] x [0] : (tensor<2x16xf32>, tensor<16x16xf32>) -> tensor<2x16xf32>
    stablehlo.return %3 : tensor<2x16xf32>
  }
  return %r : tensor<2x16xf32>
}

// What changes in each iteration stays, and so does what depends on an operation with effects.
// CHECK-LABEL: func.func @changes(
// CHECK-NEXT:    stablehlo.while
// CHECK-COUNT-2:   "stablehlo.all_reduce"
func.func @changes(%x: tensor<16xf32>, %y: tensor<16xf32>) -> tensor<16xf32> {
  %r:2 = stablehlo.while(%a = %x, %b = %y) : tensor<16xf32>, tensor<16xf32>
   cond {
    %true = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %true : tensor<i1>
  } do {
    %0 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
    ^bb0(%c: tensor<f32>, %d: tensor<f32>):
      %s = stablehlo.add %c, %d : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<16xf32>) -> tensor<16xf32>
    %e = stablehlo.custom_call @draw(%b) {has_side_effect = true} : (tensor<16xf32>) -> tensor<16xf32>
    %1 = "stablehlo.all_reduce"(%e) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
    ^bb0(%c: tensor<f32>, %d: tensor<f32>):
      %s = stablehlo.add %c, %d : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<16xf32>) -> tensor<16xf32>
    %2 = stablehlo.add %0, %1 : tensor<16xf32>
    stablehlo.return %2, %b : tensor<16xf32>, tensor<16xf32>
  }
  return %r#0 : tensor<16xf32>
}

// Out of both loops.
// CHECK-LABEL: func.func @nested(
// CHECK-NEXT:    "stablehlo.collective_permute"
// CHECK-NEXT:    stablehlo.while
func.func @nested(%x: tensor<16xf32>, %y: tensor<16xf32>) -> tensor<16xf32> {
  %r:2 = stablehlo.while(%a = %x, %b = %y) : tensor<16xf32>, tensor<16xf32>
   cond {
    %true = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %true : tensor<i1>
  } do {
    %s = stablehlo.while(%c = %a) : tensor<16xf32>
     cond {
      %true = stablehlo.constant dense<true> : tensor<i1>
      stablehlo.return %true : tensor<i1>
    } do {
      %0 = "stablehlo.collective_permute"(%b) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<16xf32>) -> tensor<16xf32>
      %1 = stablehlo.multiply %0, %0 : tensor<16xf32>
      %2 = stablehlo.add %c, %1 : tensor<16xf32>
      stablehlo.return %2 : tensor<16xf32>
    }
    stablehlo.return %s, %b : tensor<16xf32>, tensor<16xf32>
  }
  return %r#0 : tensor<16xf32>
}
