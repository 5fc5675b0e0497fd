// RUN: sdy-opt %s -sdy-jax-pipeline | filecheck %s
// RUN: sdy-opt %s -sdy-propagation-pipeline | filecheck %s --check-prefix=SHARDY

// A loop of XLA does not pass on what it does not change, so shardings propagate into it without data-flow edges.
// Here each device then sums up its part of the features; with the edges of loop-carried values, the product gets
// the sharding of the labels.
// CHECK:         stablehlo.while(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : tensor<i32>, tensor<8x16x32xf32>
// CHECK:         %[[ROW:.*]] = stablehlo.dynamic_slice %arg0, {{.*}}<@mesh, [{}, {}, {"x"}]>
// CHECK-NEXT:    %[[SUM:.*]] = stablehlo.dot_general %[[ROW]], %arg1,
// CHECK-NEXT:    sdy.reduce_scatter [{}, {"x"}, {}] %[[SUM]]
// SHARDY:        stablehlo.dot_general %{{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}, {}]>]>}

sdy.mesh @mesh = <["x"=4]>
func.func @main(%rows: tensor<8x16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}]>},
    %w: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %labels: tensor<8x16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>})
    -> tensor<8x16x32xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %zeros = stablehlo.constant dense<0.0> : tensor<8x16x32xf32>
  %0:5 = stablehlo.while(%i = %zero, %acc = %zeros, %r = %rows, %v = %w, %l = %labels)
      : tensor<i32>, tensor<8x16x32xf32>, tensor<8x16x64xf32>, tensor<64x32xf32>, tensor<8x16x32xf32>
  cond {
    %n = stablehlo.constant dense<8> : tensor<i32>
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.dynamic_slice %r, %i, %zero, %zero, sizes = [1, 16, 64] : (tensor<8x16x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x64xf32>
    %2 = stablehlo.dot_general %1, %v, contracting_dims = [2] x [0] : (tensor<1x16x64xf32>, tensor<64x32xf32>) -> tensor<1x16x32xf32>
    %3 = stablehlo.dynamic_slice %l, %i, %zero, %zero, sizes = [1, 16, 32] : (tensor<8x16x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x32xf32>
    %4 = stablehlo.multiply %2, %3 : tensor<1x16x32xf32>
    %5 = stablehlo.dynamic_update_slice %acc, %4, %i, %zero, %zero : (tensor<8x16x32xf32>, tensor<1x16x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<8x16x32xf32>
    %6 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %6, %5, %r, %v, %l
        : tensor<i32>, tensor<8x16x32xf32>, tensor<8x16x64xf32>, tensor<64x32xf32>, tensor<8x16x32xf32>
  }
  return %0#1 : tensor<8x16x32xf32>
}
