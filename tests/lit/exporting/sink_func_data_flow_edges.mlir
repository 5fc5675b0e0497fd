// RUN: sdy-opt %s -split-input-file -sdy-sink-func-data-flow-edges | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// An argument gets the sharding of its edge and replaces it.
// CHECK-LABEL: func.func private @argument
// CHECK-SAME: (%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
// CHECK-NEXT: stablehlo.add %arg0, %arg0
func.func private @argument(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.func_data_flow_edge %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  %1 = stablehlo.add %0, %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// The same for the result of a call.
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

// The sharding of the edge replaces that of the argument.
// CHECK-LABEL: func.func @wins
// CHECK-SAME: #sdy.sharding<@mesh, [{"x", "y"}]>
func.func @wins(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>}) -> tensor<8xf32> {
  %0 = sdy.func_data_flow_edge %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", "y"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// If the edge has no sharding, the argument becomes open, on its mesh.
// CHECK-LABEL: func.func @opens
// CHECK-SAME: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}]>}
func.func @opens(
    %a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p1, {}], replicated={"y"}>}) -> tensor<8x4xf32> {
  %0 = sdy.func_data_flow_edge %a : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Another result of the call gets an open sharding, because one attribute stores all of them.
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

// Existing shardings of other results are kept.
// CHECK-LABEL: func.func @one_of_two
// CHECK: {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>, <@mesh, [{?}, {?}]>]>}
func.func @one_of_two(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<4x4xf32>) {
  %0:2 = call @pair(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>, <@mesh, [{"x"}, {}]>]>} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<4x4xf32>)
  %1 = sdy.func_data_flow_edge %0#1 : tensor<4x4xf32>
  return %0#0, %1 : tensor<8xf32>, tensor<4x4xf32>
}

func.func private @pair(tensor<8xf32>) -> (tensor<8xf32>, tensor<4x4xf32>)

// -----

// Edges without shardings are removed, in nested regions too.
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
