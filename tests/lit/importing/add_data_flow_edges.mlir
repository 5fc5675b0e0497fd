// RUN: sdy-opt %s -sdy-add-data-flow-edges | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Results own the edges of a loop: each gets an edge operation with its sharding, which replaces its other
// uses. Region arguments are targets of the same edges and get none.
// CHECK-LABEL: func.func @loop
func.func @loop(%a: tensor<8xf32>, %count: tensor<i32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[LOOP:.*]]:2 = stablehlo.while
  // CHECK: do {
  // CHECK-NEXT: stablehlo.negate %iterArg
  // CHECK: }
  // CHECK-NEXT: %[[A:.*]] = sdy.data_flow_edge %[[LOOP]]#0 sharding=<@mesh, [{"x", ?}]> : tensor<8xf32>
  // CHECK-NEXT: sdy.data_flow_edge %[[LOOP]]#1 sharding=<@mesh, []> : tensor<i32>
  // CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %[[A]], %[[A]]
  // CHECK-NEXT: return %[[A]], %[[SUM]]
  %0:2 = stablehlo.while(%x = %a, %i = %count) : tensor<8xf32>, tensor<i32>
      attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>, <@mesh, []>]>}
    cond {
    %1 = stablehlo.compare LT, %i, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.negate %x : tensor<8xf32>
    stablehlo.return %1, %i : tensor<8xf32>, tensor<i32>
  }
  %2 = stablehlo.add %0#0, %0#0 : tensor<8xf32>
  return %0#0, %2 : tensor<8xf32>, tensor<8xf32>
}

// The edge of a case connects the returned values with the result. It may have no sharding.
// CHECK-LABEL: func.func @branches
func.func @branches(%a: tensor<8xf32>, %which: tensor<i32>) -> tensor<8xf32> {
  // CHECK: %[[BRANCHES:.*]] = "stablehlo.case"
  // CHECK: %[[EDGE:.*]] = sdy.data_flow_edge %[[BRANCHES]] : tensor<8xf32>
  // CHECK-NEXT: return %[[EDGE]]
  %0 = "stablehlo.case"(%which) ({
    stablehlo.return %a : tensor<8xf32>
  }) : (tensor<i32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A barrier connects operand and result. Tokens and dynamically shaped tensors cannot be sharded.
// CHECK-LABEL: func.func @barrier
func.func @barrier(%a: tensor<8xf32>, %any: tensor<?xf32>, %token: !stablehlo.token)
    -> (tensor<8xf32>, tensor<?xf32>, !stablehlo.token) {
  // CHECK-NEXT: %[[OUT:.*]]:3 = stablehlo.optimization_barrier
  // CHECK-NEXT: %[[EDGE:.*]] = sdy.data_flow_edge %[[OUT]]#0 : tensor<8xf32>
  // CHECK-NEXT: return %[[EDGE]], %[[OUT]]#1, %[[OUT]]#2
  %0:3 = stablehlo.optimization_barrier %a, %any, %token : tensor<8xf32>, tensor<?xf32>, !stablehlo.token
  return %0#0, %0#1, %0#2 : tensor<8xf32>, tensor<?xf32>, !stablehlo.token
}

// A manual computation has an edge for each body argument, with the sharding along free axes, and one for each
// result.
// CHECK-LABEL: func.func @manual
func.func @manual(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[OUT:.*]] = sdy.manual_computation(%arg0)
  // CHECK-SAME: (%[[IN:.*]]: tensor<4x8xf32>) {
  // CHECK-NEXT:   %[[INSIDE:.*]] = sdy.data_flow_edge %[[IN]] sharding=<@mesh, [{}, {"y"}]> : tensor<4x8xf32>
  // CHECK-NEXT:   sdy.return %[[INSIDE]]
  // CHECK-NEXT: }
  // CHECK-NEXT: %[[EDGE:.*]] = sdy.data_flow_edge %[[OUT]] sharding=<@mesh, [{"x"}, {?}]> : tensor<8x8xf32>
  // CHECK-NEXT: return %[[EDGE]]
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {?}]>]
      manual_axes={"x"} (%x: tensor<4x8xf32>) {
    sdy.return %x : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// So has a named computation, whose shardings are optional.
// CHECK-LABEL: func.func @named
func.func @named(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: %[[OUT:.*]] = sdy.named_computation<"f">(%arg0)
  // CHECK-SAME: (%[[IN:.*]]: tensor<8xf32>) {
  // CHECK-NEXT:   %[[INSIDE:.*]] = sdy.data_flow_edge %[[IN]] : tensor<8xf32>
  // CHECK-NEXT:   stablehlo.add %[[INSIDE]], %[[INSIDE]]
  // CHECK: sdy.data_flow_edge %[[OUT]] sharding=<@mesh, [{"y"}]> : tensor<8xf32>
  %0 = sdy.named_computation<"f">(%a) out_shardings=[<@mesh, [{"y"}]>] (%x: tensor<8xf32>) {
    %1 = stablehlo.add %x, %x : tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Other operations have no edges; unused results of those with data flow have.
// CHECK-LABEL: func.func @unused
func.func @unused(%a: tensor<8xf32>) {
  // CHECK-NEXT: stablehlo.negate
  // CHECK-NEXT: %[[OUT:.*]] = stablehlo.optimization_barrier
  // CHECK-NEXT: sdy.data_flow_edge %[[OUT]]
  // CHECK-NEXT: return
  %0 = stablehlo.negate %a : tensor<8xf32>
  %1 = stablehlo.optimization_barrier %a : tensor<8xf32>
  return
}
