// RUN: sdy-opt %s -sdy-populate-op-sharding-rules=conservative-propagation | filecheck %s

// Shardings do not propagate along factors with shards of different sizes: sliced or padded dimensions,
// CHECK-LABEL: func.func @bounds
func.func @bounds(%a: tensor<8x4xf32>, %zero: tensor<f32>) {
  // CHECK: stablehlo.slice{{.*}}#sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=4} permutation={j} blocked_propagation={j}>
  %0 = stablehlo.slice %a [0:8, 1:3] : (tensor<8x4xf32>) -> tensor<8x2xf32>
  // CHECK: stablehlo.pad{{.*}}#sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=8, j=4} permutation={j} blocked_propagation={j}>
  %1 = stablehlo.pad %a, %zero, low = [0, 1], high = [0, 1], interior = [0, 0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x6xf32>
  // This padding keeps the size of the shards.
  // CHECK: stablehlo.pad{{.*}}#sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=8, j=4} permutation={j}>
  %2 = stablehlo.pad %a, %zero, low = [0, 1], high = [0, -1], interior = [0, 0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
  return
}

// concatenated dimensions, which have no common factor,
// CHECK-LABEL: func.func @concatenate
func.func @concatenate(%a: tensor<8x4xf32>, %b: tensor<8x2xf32>) {
  // CHECK: stablehlo.concatenate{{.*}}#sdy.op_sharding_rule<([i, j], [i, k])->([i, l]) {i=8, j=1, k=1, l=1}>
  %0 = stablehlo.concatenate %a, %b, dim = 1 : (tensor<8x4xf32>, tensor<8x2xf32>) -> tensor<8x6xf32>
  return
}

// windows,
// CHECK-LABEL: func.func @windows
func.func @windows(%a: tensor<8x4xf32>, %source: tensor<8x2xf32>, %zero: tensor<f32>) {
  // CHECK: #sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=8, j=3} permutation={j} blocked_propagation={j}>
  %0 = "stablehlo.reduce_window"(%a, %zero) <{window_dimensions = array<i64: 1, 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %max = stablehlo.maximum %x, %y : tensor<f32>
    stablehlo.return %max : tensor<f32>
  }) : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x3xf32>
  // CHECK: #sdy.op_sharding_rule<([i, k], [i, j], [])->([i, k]) {i=8, j=2, k=4} need_replication={j} permutation={k} blocked_propagation={j, k}>
  %1 = "stablehlo.select_and_scatter"(%a, %source, %zero) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %more = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %sum = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<8x4xf32>, tensor<8x2xf32>, tensor<f32>) -> tensor<8x4xf32>
  return
}

// and spatial dimensions of convolutions.
// CHECK-LABEL: func.func @convolution
func.func @convolution(%image: tensor<2x32x3xf32>, %kernel: tensor<5x3x16xf32>) {
  // CHECK: stablehlo.convolution{{.*}}#sdy.op_sharding_rule<([i, l, j], [m, j, k])->([i, n, k]) {i=2, j=3, k=16, l=1, m=1, n=1} reduction={j}>
  %0 = stablehlo.convolution(%image, %kernel) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x32x3xf32>, tensor<5x3x16xf32>) -> tensor<2x28x16xf32>
  return
}

// A dynamic slice blocks propagation anyway.
// CHECK-LABEL: func.func @dynamic_slice
func.func @dynamic_slice(%a: tensor<8x4xf32>, %at: tensor<i32>) {
  // CHECK: stablehlo.dynamic_slice{{.*}}#sdy.op_sharding_rule<([i, j], [], [])->([i, j]) {i=8, j=4} need_replication={j} blocked_propagation={j}>
  %0 = stablehlo.dynamic_slice %a, %at, %at, sizes = [8, 2] : (tensor<8x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x2xf32>
  return
}
