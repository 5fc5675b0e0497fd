// RUN: sdy-opt %s --lint=repeated-collective --lint-config=- --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["x"=4]>

// The values differ.
func.func @other_value(%a: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                       %b: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<512x512xf32>, tensor<512x512xf32>) {
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<512x512xf32>
  %1 = sdy.all_gather [{"x"}, {}] %b out_sharding=<@mesh, [{}, {}]> : tensor<512x512xf32>
  return %0, %1 : tensor<512x512xf32>, tensor<512x512xf32>
}

// Only one of the branches runs, and neither can use the result of the other.
func.func @branches(%p: tensor<i1>, %a: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<512x512xf32> {
  %0 = "stablehlo.if"(%p) ({
    %1 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<512x512xf32>
    stablehlo.return %1 : tensor<512x512xf32>
  }, {
    %1 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<512x512xf32>
    stablehlo.return %1 : tensor<512x512xf32>
  }) : (tensor<i1>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}

// 12 bytes on the wire are below the limit.
func.func @small(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = sdy.all_gather [{"x"}] %a out_sharding=<@mesh, [{}]> : tensor<4xf32>
  %1 = sdy.all_gather [{"x"}] %a out_sharding=<@mesh, [{}]> : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
