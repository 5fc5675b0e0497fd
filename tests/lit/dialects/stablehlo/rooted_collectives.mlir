// RUN: sdy-opt %s | filecheck %s
// RUN: sdy-opt %s | sdy-opt - | filecheck %s
// RUN: not sdy-opt %s --sdy-version=jaxlib-0.10.2 2>&1 | filecheck %s --check-prefix=BEFORE

// The root of each replica group sends or receives. It is the first process of the group, or has its index
// in the last operand. Older releases have no collective_reduce, and broadcast one value.

// CHECK-LABEL: func.func @broadcast
func.func @broadcast(%a: tensor<4xf32>, %b: tensor<8xi32>) -> (tensor<4xf32>, tensor<8xi32>) {
  // CHECK: "stablehlo.collective_broadcast"(%arg0, %arg1) <{replica_groups = dense<{{.*}}> : tensor<2x2xi64>}>
  // BEFORE: :{{[0-9]+}}:10: error: 'stablehlo.collective_broadcast' op requires one result
  %0:2 = "stablehlo.collective_broadcast"(%a, %b) {replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}
    : (tensor<4xf32>, tensor<8xi32>) -> (tensor<4xf32>, tensor<8xi32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<8xi32>
}

// CHECK-LABEL: func.func @broadcast_from_roots
func.func @broadcast_from_roots(%a: tensor<4xf32>, %b: tensor<8xi32>, %roots: tensor<2xi32>) {
  // CHECK: "stablehlo.collective_broadcast"(%arg0, %arg1, %arg2) <{has_dynamic_root, replica_groups = {{.*}}}>
  %0:2 = "stablehlo.collective_broadcast"(%a, %b, %roots) {
    has_dynamic_root, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>
  } : (tensor<4xf32>, tensor<8xi32>, tensor<2xi32>) -> (tensor<4xf32>, tensor<8xi32>)
  return
}

// The results have the element type of the reduction.
// CHECK-LABEL: func.func @reduce
func.func @reduce(%a: tensor<4xf32>, %b: tensor<8xf32>, %roots: tensor<2xi32>) -> (tensor<4xf64>, tensor<8xf64>) {
  // CHECK: "stablehlo.collective_reduce"(%arg0, %arg1, %arg2)
  // CHECK-SAME: has_dynamic_root, replica_groups = dense<{{.*}}> : tensor<1x2xi64>, use_global_device_ids}>
  // BEFORE: :{{[0-9]+}}:10: error: unregistered operation 'stablehlo.collective_reduce' found in dialect
  %0:2 = "stablehlo.collective_reduce"(%a, %b, %roots) ({
  ^bb0(%x: tensor<f64>, %y: tensor<f64>):
    %1 = stablehlo.add %x, %y : tensor<f64>
    stablehlo.return %1 : tensor<f64>
  }) {
    has_dynamic_root, use_global_device_ids,
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>,
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
  } : (tensor<4xf32>, tensor<8xf32>, tensor<2xi32>) -> (tensor<4xf64>, tensor<8xf64>)
  return %0#0, %0#1 : tensor<4xf64>, tensor<8xf64>
}
