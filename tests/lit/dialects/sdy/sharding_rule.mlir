// RUN: sdy-opt %s -allow-unregistered-dialect | filecheck %s

// A factor for each set of corresponding dimensions, in order of first use.
// CHECK-LABEL: func.func @elementwise
func.func @elementwise(%arg: tensor<8x16xf32>) -> tensor<8x16xf32> {
  // CHECK: {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=16}>}
  %0 = stablehlo.negate %arg {sdy.sharding_rule = #sdy.op_sharding_rule<([i,j])->([i,j]) {i=8,j=16}>} : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// A dimension of several factors, and special factors.
// CHECK-LABEL: func.func @special_factors
func.func @special_factors(%arg: tensor<8x16x4x2xf32>) -> tensor<16x4x2xf32> {
  // CHECK: #sdy.op_sharding_rule<([ij, k, l, m])->([k, l, m]) {i=2, j=4, k=16, l=4, m=2}
  // CHECK-SAME: reduction={i, j} need_replication={k} permutation={l} blocked_propagation={i, m}, custom>
  %0 = stablehlo.custom_call @sum(%arg) {sdy.sharding_rule = #sdy.op_sharding_rule<([ij, k, l, m])->([k, l, m]) {i=2, j=4, k=16, l=4, m=2} reduction={i, j} need_replication={k} permutation={l} blocked_propagation={i, m}, custom>} : (tensor<8x16x4x2xf32>) -> tensor<16x4x2xf32>
  return %0 : tensor<16x4x2xf32>
}

// Factors after z are numbered; scalars have no dimensions; any operation may have a custom rule.
// CHECK-LABEL: func.func @many_factors
func.func @many_factors(%arg: tensor<2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2xf32>, %scalar: tensor<f32>) {
  // CHECK: <([i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, z_1, z_2], [])->([]) {i=2, {{.*}}, z=2, z_1=2, z_2=2}, custom>
  %0 = "test.op"(%arg, %scalar) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, z_1, z_2], [])->([]) {i=2, j=2, k=2, l=2, m=2, n=2, o=2, p=2, q=2, r=2, s=2, t=2, u=2, v=2, w=2, x=2, y=2, z=2, z_1=2, z_2=2}, custom>} : (tensor<2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2xf32>, tensor<f32>) -> tensor<f32>
  // CHECK: stablehlo.negate %arg1 {sdy.sharding_rule = #sdy.op_sharding_rule<([])->([])>}
  %1 = stablehlo.negate %scalar {sdy.sharding_rule = #sdy.op_sharding_rule<([])->([])>} : tensor<f32>
  return
}

// Factors have 64-bit sizes.
// CHECK-LABEL: func.func @large_factor
// CHECK: #sdy.op_sharding_rule<([i])->([i]) {i=8589934592}, custom>
func.func @large_factor(%a: tensor<8589934592xi8>) -> tensor<8589934592xi8> {
  %0 = stablehlo.custom_call @f(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8589934592}, custom>} : (tensor<8589934592xi8>) -> tensor<8589934592xi8>
  return %0 : tensor<8589934592xi8>
}
