// RUN: sdy-opt %s -sdy-populate-op-sharding-rules | filecheck %s
// RUN: sdy-opt %s -sdy-populate-op-sharding-rules -verify-diagnostics
// RUN: sdy-opt %s -sdy-populate-op-sharding-rules --sdy-version=jaxlib-0.11.2 2>&1 | filecheck %s --check-prefix=SEPTEMBER
// RUN: sdy-opt %s -sdy-populate-op-sharding-rules --sdy-version=jaxlib-0.10.2 2>&1 | filecheck %s --check-prefix=JUNE

// Earlier versions do not know some of the targets, and warn about the first one.
// SEPTEMBER: warning: custom call @TopK is unknown to SDY sharding rule registry
// JUNE: warning: custom call @xla.debug.Log is unknown to SDY sharding rule registry

// Logging has no rule, and no warning.
// CHECK-LABEL: func.func @log
func.func @log(%a: tensor<8xf32>) {
  // CHECK-NOT: sharding_rule
  stablehlo.custom_call @xla.debug.Log(%a) {has_side_effect = true} : (tensor<8xf32>) -> ()
  // CHECK: return
  return
}

// The operands and results of some calls are sharded alike.
// CHECK-LABEL: func.func @alike
func.func @alike(%a: tensor<8x4xf32>) {
  // CHECK: stablehlo.custom_call{{.*}}#sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=4}>
  %0 = stablehlo.custom_call @MoveToHost(%a) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: stablehlo.custom_call{{.*}}#sdy.op_sharding_rule<([i, j])->([i, j], [i, j]) {i=8, j=4}>
  %1:2 = stablehlo.custom_call @_SPMDInternalOp_MultiRotate(%a) : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
  return
}

// Eigenvalues have the factor of the columns of the eigenvectors.
// CHECK-LABEL: func.func @eigenvectors
func.func @eigenvectors(%a: tensor<2x4x4xf32>) {
  // CHECK: stablehlo.custom_call{{.*}}#sdy.op_sharding_rule<([i, j, k])->([i, j, k], [i, k]) {i=2, j=4, k=4}>
  %0:2 = stablehlo.custom_call @Eigh(%a) : (tensor<2x4x4xf32>) -> (tensor<2x4x4xf32>, tensor<2x4xf32>)
  return
}

// Only batch dimensions can be sharded.
// CHECK-LABEL: func.func @qr
func.func @qr(%a: tensor<2x8x4xf32>) {
  // CHECK: stablehlo.custom_call{{.*}}#sdy.op_sharding_rule<([i, j, k])->([i, j, k], [i, l]) {i=2, j=8, k=4, l=4} need_replication={j, k, l}>
  %0:2 = stablehlo.custom_call @Qr(%a) : (tensor<2x8x4xf32>) -> (tensor<2x8x4xf32>, tensor<2x4xf32>)
  // CHECK: stablehlo.custom_call{{.*}}#sdy.op_sharding_rule<([i, j, k], [i, l])->([i, j, k]) {i=2, j=8, k=4, l=4} need_replication={j, k, l}>
  %1 = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%0#0, %0#1) : (tensor<2x8x4xf32>, tensor<2x4xf32>) -> tensor<2x8x4xf32>
  return
}

// An exact top-k needs replication; an approximate one does not.
// CHECK-LABEL: func.func @top_k
func.func @top_k(%a: tensor<8x64xf32>, %iota: tensor<8x64xi32>, %init: tensor<f32>, %arg: tensor<i32>) {
  // CHECK: stablehlo.custom_call{{.*}}#sdy.op_sharding_rule<([i, j])->([i, j], [i, j]) {i=8, j=64} need_replication={j} blocked_propagation={j}>
  %0:2 = stablehlo.custom_call @mhlo.topk(%a) : (tensor<8x64xf32>) -> (tensor<8x4xf32>, tensor<8x4xi32>)
  // CHECK: stablehlo.custom_call{{.*}}#sdy.op_sharding_rule<([i, j], [i, j], [], [])->([i, k], [i, k]) {i=8, j=64, k=4} need_replication={k} blocked_propagation={k}>
  %1:2 = stablehlo.custom_call @ApproxTopK(%a, %iota, %init, %arg) : (tensor<8x64xf32>, tensor<8x64xi32>, tensor<f32>, tensor<i32>) -> (tensor<8x4xf32>, tensor<8x4xi32>)
  return
}

// The name of a top-k in XLA has the same rule since jaxlib 0.12.0.1.
// CHECK-LABEL: func.func @xla_top_k
// SEPTEMBER-LABEL: func.func @xla_top_k
func.func @xla_top_k(%a: tensor<8x64xf32>) {
  // CHECK: stablehlo.custom_call{{.*}}#sdy.op_sharding_rule<([i, j])->([i, j], [i, j]) {i=8, j=64} need_replication={j} blocked_propagation={j}>
  // SEPTEMBER-NEXT: stablehlo.custom_call @TopK(%arg0) : (tensor<8x64xf32>)
  %0:2 = stablehlo.custom_call @TopK(%a) : (tensor<8x64xf32>) -> (tensor<8x4xf32>, tensor<8x4xi32>)
  return
}

// The state of a random generator needs replication.
// CHECK-LABEL: func.func @random_state
func.func @random_state(%high: tensor<2xui32>, %low: tensor<2xui32>) {
  // CHECK: stablehlo.custom_call{{.*}}#sdy.op_sharding_rule<([i], [i])->([i]) {i=2}>
  %plain = stablehlo.custom_call @X64Combine(%high, %low) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui64>
  // CHECK: stablehlo.custom_call{{.*}}#sdy.op_sharding_rule<([i], [i])->([i]) {i=2} need_replication={i} blocked_propagation={i}>
  %state = stablehlo.custom_call @X64Combine(%high, %low) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui64>
  // CHECK: stablehlo.rng_bit_generator{{.*}}#sdy.op_sharding_rule<([i])->([i], [j]) {i=2, j=8} need_replication={i} blocked_propagation={i}>
  %0:2 = stablehlo.rng_bit_generator %state, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui32>)
  return
}

// Host callbacks have no rule, and no warning.
// CHECK-LABEL: func.func @host
func.func @host(%a: tensor<8xf32>) {
  // CHECK-NOT: sharding_rule
  %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%a) : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: return
  return
}

// Users can write a custom rule for their own calls.
// CHECK-LABEL: func.func @custom_rule
func.func @custom_rule(%a: tensor<8x4xf32>) {
  // CHECK-NEXT: #sdy.op_sharding_rule<([i, j])->([i]) {i=8, j=4} reduction={j}, custom>
  %0 = stablehlo.custom_call @sum_rows(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i]) {i=8, j=4} reduction={j}, custom>} : (tensor<8x4xf32>) -> tensor<8xf32>
  return
}
