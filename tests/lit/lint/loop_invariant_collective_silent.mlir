// RUN: sdy-opt %s --lint=loop-invariant-collective --lint-config=- --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["x"=4]>

// Each iteration gathers another value: a slice of %w at the counter, and %b, which the loop updates.
func.func @main(%w: tensor<10x512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %y: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<512x512xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %b = %y) : tensor<i32>, tensor<512x512xf32>
    attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{"x"}, {}]>]>}
  cond {
    %p = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %0 = stablehlo.dynamic_slice %w, %i, %zero, %zero, sizes = [1, 512, 512] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}, {}]>]>} : (tensor<10x512x512xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x512x512xf32>
    %1 = sdy.all_gather [{}, {"x"}, {}] %0 out_sharding=<@mesh, [{}, {}, {}]> : tensor<1x512x512xf32>
    %2 = stablehlo.reshape %1 : (tensor<1x512x512xf32>) -> tensor<512x512xf32>
    %3 = sdy.all_gather [{"x"}, {}] %b out_sharding=<@mesh, [{}, {}]> : tensor<512x512xf32>
    %4 = stablehlo.add %2, %3 : tensor<512x512xf32>
    %5 = sdy.all_slice [{"x"}, {}] %4 out_sharding=<@mesh, [{"x"}, {}]> : tensor<512x512xf32>
    stablehlo.return %next, %5 : tensor<i32>, tensor<512x512xf32>
  }
  return %r#1 : tensor<512x512xf32>
}
