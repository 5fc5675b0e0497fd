// RUN: sdy-opt %s -split-input-file -sdy-basic-propagate | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Shardings propagate between an asynchronous computation and the operands of the operation that starts it.
// CHECK-LABEL: func.func @background
// CHECK-SAME: %arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {"y"}]>}
// CHECK: stablehlo.slice %arg1 [0:8, 0:4] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y", ?}]>]>}
func.func @background(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"y"}]>}) -> tensor<8x4xf32> {
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%b: tensor<8x4xf32>):
    %2 = "stablehlo.slice"(%b) <{start_indices = array<i64: 0, 0>, limit_indices = array<i64: 8, 4>, strides = array<i64: 1, 1>}> {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {?}]>]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    "stablehlo.return"(%2) : (tensor<8x4xf32>) -> ()
  }) : (tensor<8x4xf32>) -> !stablehlo.future<tensor<8x4xf32>>
  %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<8x4xf32>>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// The sharding on the data-flow edge of an operand does not propagate into the asynchronous computation.
// CHECK-LABEL: func.func @background_in_loop
// CHECK: stablehlo.slice %arg2 [0:8] : (tensor<8xf32>) -> tensor<8xf32>
func.func @background_in_loop(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %i: tensor<i32>) -> tensor<8xf32> {
  %0:2 = stablehlo.while(%b = %a, %j = %i) : tensor<8xf32>, tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %j, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = "stablehlo.async_start"(%b) ({
    ^bb0(%c: tensor<8xf32>):
      %3 = "stablehlo.slice"(%c) <{start_indices = array<i64: 0>, limit_indices = array<i64: 8>, strides = array<i64: 1>}> : (tensor<8xf32>) -> tensor<8xf32>
      "stablehlo.return"(%3) : (tensor<8xf32>) -> ()
    }) : (tensor<8xf32>) -> !stablehlo.future<tensor<8xf32>>
    %2 = "stablehlo.async_done"(%1) : (!stablehlo.future<tensor<8xf32>>) -> tensor<8xf32>
    stablehlo.return %2, %j : tensor<8xf32>, tensor<i32>
  }
  %4 = sdy.data_flow_edge %0#0 : tensor<8xf32>
  return %4 : tensor<8xf32>
}
