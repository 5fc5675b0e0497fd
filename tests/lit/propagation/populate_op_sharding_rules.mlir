// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | filecheck %s
// RUN: sdy-opt %s -sdy-populate-op-sharding-rules --sdy-version=jaxlib-0.11.2 | filecheck %s --check-prefix=BEFORE

// Elementwise operations have a common factor for each dimension.
// CHECK-LABEL: func.func @elementwise
func.func @elementwise(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>) {
  // CHECK: stablehlo.add{{.*}}#sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=8, j=4}>
  %sum = stablehlo.add %a, %b : tensor<8x4xf32>
  // CHECK: stablehlo.compare{{.*}}#sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=8, j=4}>
  %less = stablehlo.compare LT, %a, %b : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xi1>
  return
}

// Scalars have no factors, and still a rule.
// CHECK-LABEL: func.func @scalars
func.func @scalars(%a: tensor<f32>) {
  // CHECK: stablehlo.sine {{.*}}#sdy.op_sharding_rule<([])->([])>
  %0 = stablehlo.sine %a : tensor<f32>
  return
}

// A scalar predicate has no factors.
// CHECK-LABEL: func.func @one_predicate
func.func @one_predicate(%p: tensor<i1>, %a: tensor<8x4xf32>) {
  // CHECK: stablehlo.select{{.*}}#sdy.op_sharding_rule<([], [i, j], [i, j])->([i, j]) {i=8, j=4}>
  %0 = stablehlo.select %p, %a, %a : tensor<i1>, tensor<8x4xf32>
  return
}

// Scalar limits have no factors.
// CHECK-LABEL: func.func @one_limit
func.func @one_limit(%min: tensor<f32>, %a: tensor<8x4xf32>, %max: tensor<8x4xf32>) {
  // CHECK: stablehlo.clamp{{.*}}#sdy.op_sharding_rule<([], [i, j], [i, j])->([i, j]) {i=8, j=4}>
  %0 = stablehlo.clamp %min, %a, %max : (tensor<f32>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// A transpose permutes the factors, which are in the order of the result.
// CHECK-LABEL: func.func @transpose
func.func @transpose(%a: tensor<2x3x5xf32>) {
  // CHECK: stablehlo.transpose{{.*}}#sdy.op_sharding_rule<([j, k, i])->([i, j, k]) {i=5, j=2, k=3}>
  %0 = stablehlo.transpose %a, dims = [2, 0, 1] : (tensor<2x3x5xf32>) -> tensor<5x2x3xf32>
  return
}

// Reversed dimensions are permutation factors: shards move between devices.
// CHECK-LABEL: func.func @reverse
func.func @reverse(%a: tensor<8x4xf32>) {
  // CHECK: stablehlo.reverse{{.*}}#sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=4} permutation={j}>
  %0 = stablehlo.reverse %a, dims = [1] : tensor<8x4xf32>
  return
}

// In the result, i is a dimension of the operand, j is new, and k=1 is expanded to l.
// CHECK-LABEL: func.func @broadcast
func.func @broadcast(%a: tensor<8x1xf32>) {
  // CHECK: stablehlo.broadcast_in_dim{{.*}}#sdy.op_sharding_rule<([i, k])->([i, j, l]) {i=8, j=6, k=1, l=4}>
  %0 = stablehlo.broadcast_in_dim %a, dims = [0, 2] : (tensor<8x1xf32>) -> tensor<8x6x4xf32>
  return
}

// The narrow elements of a wide one need replication.
// CHECK-LABEL: func.func @bitcast
func.func @bitcast(%a: tensor<8xi32>, %b: tensor<8x4xi8>) {
  // CHECK: stablehlo.bitcast_convert{{.*}}#sdy.op_sharding_rule<([i])->([i, j]) {i=8, j=4} need_replication={j}>
  %0 = stablehlo.bitcast_convert %a : (tensor<8xi32>) -> tensor<8x4xi8>
  // CHECK: stablehlo.bitcast_convert{{.*}}#sdy.op_sharding_rule<([i, j])->([i]) {i=8, j=4} need_replication={j}>
  %1 = stablehlo.bitcast_convert %b : (tensor<8x4xi8>) -> tensor<8xi32>
  // CHECK: stablehlo.bitcast_convert{{.*}}#sdy.op_sharding_rule<([i])->([i]) {i=8}>
  %2 = stablehlo.bitcast_convert %a : (tensor<8xi32>) -> tensor<8xf32>
  return
}

// A dimension that is split has a factor for each dimension of the result, major to minor.
// CHECK-LABEL: func.func @reshape_splits
func.func @reshape_splits(%a: tensor<24xf32>) {
  // CHECK: stablehlo.reshape{{.*}}#sdy.op_sharding_rule<([ijk])->([i, j, k]) {i=2, j=3, k=4}>
  %0 = stablehlo.reshape %a : (tensor<24xf32>) -> tensor<2x3x4xf32>
  return
}

// The same for merged dimensions. Dimensions of size 1 have factors of their own, which need replication since
// jaxlib 0.12.0.1.
// CHECK-LABEL: func.func @reshape_joins
// BEFORE-LABEL: func.func @reshape_joins
func.func @reshape_joins(%a: tensor<2x1x4xf32>) {
  // CHECK: stablehlo.reshape{{.*}}#sdy.op_sharding_rule<([i, j, k])->([ik, l]) {i=2, j=1, k=4, l=1} need_replication={j, l}>
  // BEFORE: stablehlo.reshape{{.*}}#sdy.op_sharding_rule<([i, j, k])->([ik, l]) {i=2, j=1, k=4, l=1}>
  %0 = stablehlo.reshape %a : (tensor<2x1x4xf32>) -> tensor<8x1xf32>
  return
}

// Sizes that do not divide each other have their common divisor as common factor.
// CHECK-LABEL: func.func @reshape_shares_a_divisor
func.func @reshape_shares_a_divisor(%a: tensor<4x6xf32>) {
  // CHECK: stablehlo.reshape{{.*}}#sdy.op_sharding_rule<([i, jk])->([ij, k]) {i=4, j=2, k=3}>
  %0 = stablehlo.reshape %a : (tensor<4x6xf32>) -> tensor<8x3xf32>
  return
}

// Sizes without a common divisor share a permutation factor, as 2 and 3 do here. It has the size of the operand's
// dimension. The other factors of operand or result need replication, and along the last factor the sizes match again.
// CHECK-LABEL: func.func @reshape_goes_apart
// BEFORE-LABEL: func.func @reshape_goes_apart
func.func @reshape_goes_apart(%a: tensor<2x15xf32>) {
  // CHECK: stablehlo.reshape{{.*}}#sdy.op_sharding_rule<([i, jl])->([i, kl]) {i=2, j=3, k=2, l=5} need_replication={j, k} permutation={i}>
  // Before jaxlib 0.12.0.1 each had a factor of its own, and only the last factor was common.
  // BEFORE: stablehlo.reshape{{.*}}#sdy.op_sharding_rule<([i, km])->([j, lm]) {i=2, j=3, k=3, l=2, m=5}>
  %0 = stablehlo.reshape %a : (tensor<2x15xf32>) -> tensor<3x10xf32>
  return
}

// A reshape without elements has no rule.
// CHECK-LABEL: func.func @reshape_of_nothing
func.func @reshape_of_nothing(%a: tensor<0x4xf32>) {
  // CHECK-NEXT: stablehlo.reshape %arg0 : (tensor<0x4xf32>)
  %0 = stablehlo.reshape %a : (tensor<0x4xf32>) -> tensor<0x2xf32>
  return
}

// i is the batching dimension, j is of lhs and k of rhs only, and l is the contracting dimension.
// CHECK-LABEL: func.func @batched_matmul
func.func @batched_matmul(%lhs: tensor<2x4x8xf32>, %rhs: tensor<2x8x16xf32>) {
  // CHECK: stablehlo.dot_general{{.*}}#sdy.op_sharding_rule<([i, j, l], [i, l, k])->([i, j, k]) {i=2, j=4, k=16, l=8} reduction={l}>
  %0 = stablehlo.dot_general %lhs, %rhs, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x4x8xf32>, tensor<2x8x16xf32>) -> tensor<2x4x16xf32>
  return
}

// A vector has the contracting dimension only.
// CHECK-LABEL: func.func @dot
func.func @dot(%matrix: tensor<4x8xf32>, %vector: tensor<8xf32>) {
  // CHECK: stablehlo.dot{{.*}}#sdy.op_sharding_rule<([i, j], [j])->([i]) {i=4, j=8} reduction={j}>
  %0 = stablehlo.dot %matrix, %vector : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4xf32>
  // CHECK: stablehlo.dot{{.*}}#sdy.op_sharding_rule<([i], [i])->([]) {i=8} reduction={i}>
  %1 = stablehlo.dot %vector, %vector : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  return
}

// i is the batch, l the input and m the output features. A spatial dimension has a factor for the window
// positions and, if the window has several elements, one for the window; the larger of the two is major. Here windows
// overlap, so 28 positions leave no room in the input for the window of size 5, which has a permutation factor k.
// CHECK-LABEL: func.func @convolution
// BEFORE-LABEL: func.func @convolution
func.func @convolution(%image: tensor<2x32x4x3xf32>, %kernel: tensor<5x1x3x16xf32>) {
  // CHECK: stablehlo.convolution{{.*}}#sdy.op_sharding_rule<([i, j, l, m], [k, o, m, n])->([i, j, l, n]) {i=2, j=28, k=5, l=4, m=3, n=16, o=1} reduction={m} permutation={j, k, l}>
  // Before jaxlib 0.12.0.1 there was no factor for the window.
  // BEFORE: stablehlo.convolution{{.*}}#sdy.op_sharding_rule<([i, j, k, l], [n, o, l, m])->([i, j, k, m]) {i=2, j=28, k=4, l=3, m=16, n=1, o=1} reduction={l} permutation={j, k}>
  %0 = stablehlo.convolution(%image, %kernel) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x32x4x3xf32>, tensor<5x1x3x16xf32>) -> tensor<2x28x4x16xf32>
  return
}

// Windows that do not overlap are a reduction factor of input and kernel, as l is: there are 16 windows of size 2.
// CHECK-LABEL: func.func @patches
func.func @patches(%image: tensor<2x32x3xf32>, %kernel: tensor<2x3x16xf32>) {
  // CHECK: stablehlo.convolution{{.*}}#sdy.op_sharding_rule<([i, jk, l], [k, l, m])->([i, j, m]) {i=2, j=16, k=2, l=3, m=16} reduction={k, l} permutation={j}>
  %0 = stablehlo.convolution(%image, %kernel) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x32x3xf32>, tensor<2x3x16xf32>) -> tensor<2x16x16xf32>
  return
}

// For the gradient of a kernel, the window is larger than the number of its positions, which is a factor k of the result.
// CHECK-LABEL: func.func @kernel_gradient
// BEFORE-LABEL: func.func @kernel_gradient
func.func @kernel_gradient(%image: tensor<3x32x2xf32>, %gradient: tensor<2x30x16xf32>) {
  // CHECK: stablehlo.convolution{{.*}}#sdy.op_sharding_rule<([i, j, l], [l, j, m])->([i, k, m]) {i=3, j=30, k=3, l=2, m=16} reduction={j, l} permutation={k}>
  // BEFORE: stablehlo.convolution{{.*}}#sdy.op_sharding_rule<([i, j, k], [k, j, l])->([i, m, l]) {i=3, j=30, k=2, l=16, m=1} reduction={j, k}>
  %0 = stablehlo.convolution(%image, %gradient) dim_numbers = [b, 0, f]x[i, 0, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<3x32x2xf32>, tensor<2x30x16xf32>) -> tensor<3x3x16xf32>
  return
}

// Feature groups are a factor of input, kernel and output.
// CHECK-LABEL: func.func @grouped_convolution
func.func @grouped_convolution(%image: tensor<2x8x6xf32>, %kernel: tensor<1x3x8xf32>) {
  // CHECK: stablehlo.convolution{{.*}}#sdy.op_sharding_rule<([i, j, kl], [n, l, km])->([i, j, km]) {i=2, j=8, k=2, l=3, m=4, n=1} reduction={l} permutation={j}>
  %0 = stablehlo.convolution(%image, %kernel) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<2x8x6xf32>, tensor<1x3x8xf32>) -> tensor<2x8x8xf32>
  return
}

// Batch groups are a factor as well.
// CHECK-LABEL: func.func @batch_grouped_convolution
func.func @batch_grouped_convolution(%image: tensor<4x8x6xf32>, %kernel: tensor<1x6x8xf32>) {
  // CHECK: stablehlo.convolution{{.*}}#sdy.op_sharding_rule<([ij, k, l], [n, l, im])->([j, k, im]) {i=2, j=2, k=8, l=6, m=4, n=1} reduction={l} permutation={k}>
  %0 = stablehlo.convolution(%image, %kernel) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<4x8x6xf32>, tensor<1x6x8xf32>) -> tensor<2x8x8xf32>
  return
}

// Matrices need replication, batch dimensions do not. Here x is to the left of a.
// CHECK-LABEL: func.func @linear_algebra
func.func @linear_algebra(%a: tensor<2x4x4xf32>, %b: tensor<2x3x4xf32>) {
  // CHECK: stablehlo.cholesky{{.*}}#sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=2, j=4, k=4} need_replication={j, k}>
  %0 = stablehlo.cholesky %a : tensor<2x4x4xf32>
  // CHECK: stablehlo.triangular_solve{{.*}}#sdy.op_sharding_rule<([i, l, k], [i, j, k])->([i, j, l]) {i=2, j=3, k=4, l=4} need_replication={j, k, l}>
  %1 = "stablehlo.triangular_solve"(%a, %b) <{left_side = false, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x4x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return
}

// Transformed dimensions need replication. The last one of a real transform changes its size.
// CHECK-LABEL: func.func @fft
func.func @fft(%a: tensor<3x8x8xf32>) {
  // CHECK: stablehlo.fft{{.*}}#sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=3, j=8, k=8} need_replication={j, k} blocked_propagation={k}>
  %0 = stablehlo.fft %a, type = RFFT, length = [8, 8] : (tensor<3x8x8xf32>) -> tensor<3x8x5xcomplex<f32>>
  return
}

// Random numbers can be sharded, their state needs replication.
// CHECK-LABEL: func.func @random
func.func @random(%state: tensor<2xui64>) {
  // CHECK: stablehlo.rng_bit_generator{{.*}}#sdy.op_sharding_rule<([i])->([i], [j, k]) {i=2, j=8, k=4} need_replication={i} blocked_propagation={i}>
  %0:2 = stablehlo.rng_bit_generator %state, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8x4xui32>)
  return
}

// Scale, offset, mean and variance have one element per feature.
// CHECK-LABEL: func.func @batch_norm
func.func @batch_norm(%a: tensor<8x4xf32>, %figure: tensor<4xf32>) {
  // CHECK: stablehlo.batch_norm_inference{{.*}}#sdy.op_sharding_rule<([i, j], [j], [j], [j], [j])->([i, j]) {i=8, j=4}>
  %0 = "stablehlo.batch_norm_inference"(%a, %figure, %figure, %figure, %figure) <{epsilon = 1.000000e-01 : f32, feature_index = 1 : i64}> : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  return
}

// Collectives operate on per-process tensors. The gathered dimension needs replication.
// CHECK-LABEL: func.func @collectives
func.func @collectives(%a: tensor<8x4xf32>) {
  // CHECK: stablehlo.collective_permute{{.*}}#sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=4}>
  %0 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: stablehlo.all_gather{{.*}}#sdy.op_sharding_rule<([i, j])->([i, k]) {i=8, j=4, k=8} need_replication={j, k}>
  %1 = "stablehlo.all_gather"(%a) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<8x4xf32>) -> tensor<8x8xf32>
  // CHECK: stablehlo.all_to_all{{.*}}#sdy.op_sharding_rule<([k, i])->([l, j]) {i=4, j=2, k=8, l=16} need_replication={i, j, k, l}>
  %2 = "stablehlo.all_to_all"(%a) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<8x4xf32>) -> tensor<16x2xf32>
  return
}

// An existing rule is kept, even one without common factors.
// CHECK-LABEL: func.func @keeps_rule
func.func @keeps_rule(%a: tensor<8xf32>) {
  // CHECK-NEXT: stablehlo.negate {{.*}}#sdy.op_sharding_rule<([i])->([j]) {i=8, j=8}>
  %0 = stablehlo.negate %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([j]) {i=8, j=8}>} : tensor<8xf32>
  return
}

// Structural operations, and those with nothing to shard, have no rule.
// CHECK-LABEL: func.func @no_rules
func.func @no_rules(%a: tensor<8xf32>) {
  // CHECK-NOT: sharding_rule
  %0 = stablehlo.constant dense<1.000000e+00> : tensor<8xf32>
  %1 = stablehlo.iota dim = 0 : tensor<8xf32>
  %2 = stablehlo.optimization_barrier %a : tensor<8xf32>
  sdy.sharding_group %a group_id=1 : tensor<8xf32>
  // CHECK: return
  return
}

// Operations in regions have rules as well.
// CHECK-LABEL: func.func @bodies
func.func @bodies(%a: tensor<8xf32>, %p: tensor<i1>) {
  %0 = stablehlo.while(%x = %a) : tensor<8xf32> cond {
    stablehlo.return %p : tensor<i1>
  } do {
    // CHECK: stablehlo.tanh{{.*}}#sdy.op_sharding_rule<([i])->([i]) {i=8}>
    %1 = stablehlo.tanh %x : tensor<8xf32>
    stablehlo.return %1 : tensor<8xf32>
  }
  return
}

// A constraint on a token has no rule, because a token has no dimensions.
sdy.mesh @mesh_of_token = <["x"=2]>
// CHECK-LABEL: func.func @token
func.func @token(%token: !stablehlo.token) -> !stablehlo.token {
  // CHECK-NEXT: sdy.sharding_constraint %arg0 <@mesh_of_token, []> : !stablehlo.token
  %0 = sdy.sharding_constraint %token <@mesh_of_token, []> : !stablehlo.token
  return %0 : !stablehlo.token
}
