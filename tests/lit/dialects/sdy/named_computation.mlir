// RUN: sdy-opt %s | filecheck %s
// RUN: sdy-opt %s -mlir-print-op-generic | sdy-opt - | filecheck %s

sdy.mesh @mesh = <["x"=2]>

// A body with a name. Its operands and results may have shardings.
// CHECK-LABEL: func.func @shardings
func.func @shardings(%arg: tensor<8xf32>, %other: tensor<4xf32>) -> tensor<8xf32> {
  // CHECK: %[[OUT:.*]]:2 = sdy.named_computation<"layer \22one\22">(%arg0, %arg1)
  // CHECK-SAME: in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{?}]>] out_shardings=[<@mesh, [{}]>, <@mesh, [{}]>]
  // CHECK-SAME: (%[[ONE:.*]]: tensor<8xf32>, %[[TWO:.*]]: tensor<4xf32>) {
  // CHECK-NEXT:   sdy.return %[[TWO]], %[[ONE]] : tensor<4xf32>, tensor<8xf32>
  // CHECK-NEXT: } {test.note} : (tensor<8xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<8xf32>)
  %0:2 = sdy.named_computation<"layer \"one\"">(%arg, %other) in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{?}]>] out_shardings=[<@mesh, [{}]>, <@mesh, [{}]>] (%one: tensor<8xf32>, %two: tensor<4xf32>) {
    sdy.return %two, %one : tensor<4xf32>, tensor<8xf32>
  } {test.note} : (tensor<8xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<8xf32>)
  // CHECK-NEXT: return %[[OUT]]#1
  return %0#1 : tensor<8xf32>
}

// Shardings of one side only, none, and no values at all.
// CHECK-LABEL: func.func @optional_parts
func.func @optional_parts(%arg: tensor<8xf32>) {
  // CHECK: sdy.named_computation<"in">(%arg0) in_shardings=[<@mesh, [{"x"}]>] (%arg1: tensor<8xf32>) {
  sdy.named_computation<"in">(%arg) in_shardings=[<@mesh, [{"x"}]>] (%in: tensor<8xf32>) {
    sdy.return
  } : (tensor<8xf32>) -> ()
  // CHECK: sdy.named_computation<"out">(%arg0) out_shardings=[<@mesh, [{"x"}]>] (%arg1: tensor<8xf32>) {
  %0 = sdy.named_computation<"out">(%arg) out_shardings=[<@mesh, [{"x"}]>] (%in: tensor<8xf32>) {
    sdy.return %in : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: sdy.named_computation<"">() () {
  sdy.named_computation<"">() () {
    // CHECK-NEXT: sdy.return {test.note}
    sdy.return {test.note}
  } : () -> ()
  return
}

// The owner of an edge may be a result or an argument.
// CHECK-LABEL: func.func @edges
func.func @edges(%arg: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.named_computation<"inner">(%arg) in_shardings=[<@mesh, [{?}]>] (%in: tensor<8xf32>) {
    // CHECK: sdy.data_flow_edge %arg1 sharding=<@mesh, [{"x"}]> : tensor<8xf32>
    %1 = sdy.data_flow_edge %in sharding=<@mesh, [{"x"}]> : tensor<8xf32>
    // From here on, the edge stores the sharding of the argument.
    // CHECK-NEXT: sdy.all_gather [{"x"}]
    %2 = sdy.all_gather [{"x"}] %1 out_sharding=<@mesh, [{}]> : tensor<8xf32>
    sdy.return %2 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: sdy.data_flow_edge %{{.*}} : tensor<8xf32>
  %3 = sdy.data_flow_edge %0 : tensor<8xf32>
  return %3 : tensor<8xf32>
}
