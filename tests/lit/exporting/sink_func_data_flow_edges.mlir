// RUN: sdy-opt %s -split-input-file -sdy-sink-func-data-flow-edges | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// An argument gets the sharding of the edge behind it, and the uses of the edge.
// CHECK-LABEL: func.func private @argument
// CHECK-SAME: (%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
// CHECK-NEXT: stablehlo.add %arg0, %arg0
func.func private @argument(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.func_data_flow_edge %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  %1 = stablehlo.add %0, %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// So does the result of a call.
// CHECK-LABEL: func.func @main
// CHECK: %0 = call @argument(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>}
// CHECK-NEXT: return %0
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @argument(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = sdy.func_data_flow_edge %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Propagation changes the sharding of the edge, so it takes the place of the argument's own.
// CHECK-LABEL: func.func @wins
// CHECK-SAME: #sdy.sharding<@mesh, [{"x", "y"}]>
func.func @wins(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>}) -> tensor<8xf32> {
  %0 = sdy.func_data_flow_edge %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", "y"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// An edge without a sharding says that nothing is known: the argument's own is opened, and its mesh kept.
// CHECK-LABEL: func.func @opens
// CHECK-SAME: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}]>}
func.func @opens(
    %a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p1, {}], replicated={"y"}>}) -> tensor<8x4xf32> {
  %0 = sdy.func_data_flow_edge %a : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// A call keeps the shardings of all its results together, so another result gets an open one.
// CHECK-LABEL: func.func @others
// CHECK: %0:2 = call @pair(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}]>, <@mesh, [{"x"}, {}]>]>}
// CHECK-NEXT: return %0#0, %0#1
func.func @others(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<4x4xf32>) {
  %0:2 = call @pair(%a) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<4x4xf32>)
  %1 = sdy.func_data_flow_edge %0#1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<4x4xf32>
  return %0#0, %1 : tensor<8xf32>, tensor<4x4xf32>
}

func.func private @pair(tensor<8xf32>) -> (tensor<8xf32>, tensor<4x4xf32>)

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// What a call's other results are known to be stays.
// CHECK-LABEL: func.func @one_of_two
// CHECK: {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>, <@mesh, [{?}, {?}]>]>}
func.func @one_of_two(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<4x4xf32>) {
  %0:2 = call @pair(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>, <@mesh, [{"x"}, {}]>]>} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<4x4xf32>)
  %1 = sdy.func_data_flow_edge %0#1 : tensor<4x4xf32>
  return %0#0, %1 : tensor<8xf32>, tensor<4x4xf32>
}

func.func private @pair(tensor<8xf32>) -> (tensor<8xf32>, tensor<4x4xf32>)

// -----

// Without shardings, nothing is left of an edge, inside regions too.
// CHECK-LABEL: func.func @plain
// CHECK: stablehlo.optimization_barrier %arg0
// CHECK: stablehlo.case
// CHECK-NEXT: %[[CALL:.*]] = func.call @plain
// CHECK-NEXT: stablehlo.return %[[CALL]]
func.func @plain(%a: tensor<8xf32>, %i: tensor<i32>) -> tensor<8xf32> {
  %0 = sdy.func_data_flow_edge %a : tensor<8xf32>
  %1 = stablehlo.optimization_barrier %0 : tensor<8xf32>
  %2 = "stablehlo.case"(%i) ({
    %3 = func.call @plain(%1, %i) : (tensor<8xf32>, tensor<i32>) -> tensor<8xf32>
    %4 = sdy.func_data_flow_edge %3 : tensor<8xf32>
    stablehlo.return %4 : tensor<8xf32>
  }) : (tensor<i32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}
