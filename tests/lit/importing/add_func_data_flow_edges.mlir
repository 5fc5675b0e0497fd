// RUN: sdy-opt %s -sdy-add-func-data-flow-edges -split-input-file | filecheck %s

// Arguments of called functions and results of calls get edges, in order. The arguments of the entry point
// get none, because it has no callers.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %[[CALL:.*]]:2 = call @callee(%arg0, %arg1)
// CHECK-NEXT:    %[[FIRST:.*]] = sdy.func_data_flow_edge %[[CALL]]#0 : tensor<8xf32>
// CHECK-NEXT:    %[[SECOND:.*]] = sdy.func_data_flow_edge %[[CALL]]#1 : tensor<4xf32>
// CHECK-NEXT:    return %[[FIRST]], %[[SECOND]]
func.func @main(%a: tensor<8xf32>, %b: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %0:2 = call @callee(%a, %b) : (tensor<8xf32>, tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<8xf32>, tensor<4xf32>
}
// CHECK-LABEL: func.func private @callee
// CHECK-NEXT:    %[[FIRST:.*]] = sdy.func_data_flow_edge %arg0 : tensor<8xf32>
// CHECK-NEXT:    %[[SECOND:.*]] = sdy.func_data_flow_edge %arg1 : tensor<4xf32>
// CHECK-NEXT:    return %[[FIRST]], %[[SECOND]]
func.func private @callee(%a: tensor<8xf32>, %b: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  return %a, %b : tensor<8xf32>, tensor<4xf32>
}

// -----

// An edge gets the sharding of its input.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @main
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK:      %[[CALL:.*]] = call @callee
  // CHECK-NEXT: sdy.func_data_flow_edge %[[CALL]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}]>]>}
  %0 = call @callee(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// CHECK-LABEL: func.func private @callee
func.func private @callee(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // CHECK-NEXT: sdy.func_data_flow_edge %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
  return %a : tensor<8xf32>
}

// -----

// Tokens, dynamically shaped tensors and declarations get no edges.
// CHECK-LABEL: func.func @main
func.func @main(%a: !stablehlo.token, %b: tensor<?xf32>) {
  // CHECK-NEXT: call @callee
  // CHECK-NEXT: call @declared
  // CHECK-NEXT: return
  %0:2 = call @callee(%a, %b) : (!stablehlo.token, tensor<?xf32>) -> (!stablehlo.token, tensor<?xf32>)
  call @declared() : () -> ()
  return
}
// CHECK-LABEL: func.func private @callee
func.func private @callee(%a: !stablehlo.token, %b: tensor<?xf32>) -> (!stablehlo.token, tensor<?xf32>) {
  // CHECK-NEXT: return %arg0, %arg1
  return %a, %b : !stablehlo.token, tensor<?xf32>
}
func.func private @declared()

// -----

// The only function is the entry point, whatever its name.
// CHECK-LABEL: func.func @only
func.func @only(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: return %arg0
  return %a : tensor<8xf32>
}
