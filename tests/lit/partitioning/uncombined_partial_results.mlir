// RUN: sdy-opt %s -sdy-convert-global-to-local | filecheck %s
// RUN: sdy-opt %s -sdy-convert-global-to-local --sdy-version=jaxlib-0.11.2 | filecheck %s --check-prefix=OLDER

sdy.mesh @mesh = <["x"=2]>

// `sdy-insert-explicit-reshards` inserts no all-reduce after a reduction for which there is no kind of
// all-reduce. The conversion combines its partial results. Before jaxlib 0.12.0.1, they stay partial.
// CHECK-LABEL: func.func @all_true(
// CHECK-NEXT:    %c = stablehlo.constant dense<true>
// CHECK-NEXT:    %0 = stablehlo.reduce(%arg0 init: %c) applies stablehlo.and across dimensions = [0]
// CHECK-NEXT:    %1 = "stablehlo.all_reduce"(%0)
// CHECK-NEXT:    ^bb0(%arg1: tensor<i1>, %arg2: tensor<i1>):
// CHECK-NEXT:      %2 = stablehlo.and %arg1, %arg2 : tensor<i1>
// CHECK:         return %1 : tensor<4xi1>
// OLDER-LABEL: func.func @all_true(
// OLDER:         %0 = stablehlo.reduce
// OLDER-NEXT:    return %0 : tensor<4xi1>
func.func @all_true(%a: tensor<8x4xi1> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4xi1> {
  %true = stablehlo.constant dense<true> : tensor<i1>
  %0 = stablehlo.reduce(%a init: %true) applies stablehlo.and across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<8x4xi1>, tensor<i1>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// No all-reduce combines several results together, as of an argmax. They are gathered and reduced again.
// CHECK-LABEL: func.func @sum_and_maximum(
// CHECK:         %0:2 = stablehlo.reduce(%arg0 init: %cst), (%arg0 init: %cst) across dimensions = [0]
// CHECK:         %1 = stablehlo.reshape %0#0 : (tensor<4xf32>) -> tensor<4x1xf32>
// CHECK-NEXT:    %2 = "stablehlo.all_gather"(%1) <{all_gather_dim = 1 : i64, {{.*}} : (tensor<4x1xf32>) -> tensor<4x2xf32>
// CHECK-NEXT:    %3 = stablehlo.reshape %0#1 : (tensor<4xf32>) -> tensor<4x1xf32>
// CHECK-NEXT:    %4 = "stablehlo.all_gather"(%3)
// CHECK-NEXT:    %5:2 = stablehlo.reduce(%2 init: %cst), (%4 init: %cst) across dimensions = [1] : (tensor<4x2xf32>, tensor<4x2xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK:         return %5#0, %5#1
func.func @sum_and_maximum(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4xf32>, tensor<4xf32>) {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0:2 = stablehlo.reduce(%a init: %c), (%a init: %c) across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{}]>]>} : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
   reducer(%p: tensor<f32>, %q: tensor<f32>) (%r: tensor<f32>, %s: tensor<f32>) {
    %1 = stablehlo.add %p, %q : tensor<f32>
    %2 = stablehlo.maximum %r, %s : tensor<f32>
    stablehlo.return %1, %2 : tensor<f32>, tensor<f32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// Unreduced axes stay unreduced.
// CHECK-LABEL: func.func @unreduced(
// CHECK-NEXT:    %0 = stablehlo.dot %arg0, %arg1
// CHECK-NEXT:    return %0
func.func @unreduced(%a: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}) {
  %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<8x6xf32>, tensor<6x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
