// RUN: sdy-opt %s -sdy-populate-op-sharding-rules 2>&1 | filecheck %s

// Known call targets with other operands and results have a warning of their own.
// A warning shows the operation as it is in the program.
// CHECK: mismatch_errors.mlir:10:10: warning: custom call @Eigh with these operands and results is unknown to SDY sharding rule registry
// CHECK: note: %0:2 = stablehlo.custom_call @Eigh(%arg0) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<f32>)
// CHECK-LABEL: func.func @eigenvectors_of_a_vector
// CHECK-NOT: sharding_rule
func.func @eigenvectors_of_a_vector(%a: tensor<8xf32>) {
  %0:2 = stablehlo.custom_call @Eigh(%a) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<f32>)
  return
}

// There is no result to be sharded like the operand.
// CHECK-LABEL: func.func @nothing_back
// CHECK-NEXT: custom_call @MoveToHost(%arg0) : (tensor<8xf32>) -> ()
func.func @nothing_back(%a: tensor<8xf32>) {
  stablehlo.custom_call @MoveToHost(%a) : (tensor<8xf32>) -> ()
  return
}
