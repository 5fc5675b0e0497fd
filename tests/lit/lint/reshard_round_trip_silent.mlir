// RUN: sdy-opt %s --lint=reshard-round-trip --lint-config=- --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["x"=4]>

// A reduction along dimension 1 needs all of it on each device, so that this trip is worth it.
func.func @reduction(%a: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<512xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = sdy.all_to_all [{"x"}: 1->0] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<512x512xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<512x512xf32>, tensor<f32>) -> tensor<512xf32>
  %2 = sdy.all_gather [{"x"}] %1 out_sharding=<@mesh, [{}]> : tensor<512xf32>
  return %2 : tensor<512xf32>
}

// The other operand of the addition has the sharding in between.
func.func @other_operand(%a: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<512x512xf32> {
  %0 = sdy.all_to_all [{"x"}: 0->1] %a out_sharding=<@mesh, [{}, {"x"}]> : tensor<512x512xf32>
  %1 = stablehlo.add %0, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<512x512xf32>
  %2 = sdy.all_to_all [{"x"}: 1->0] %1 out_sharding=<@mesh, [{"x"}, {}]> : tensor<512x512xf32>
  %3 = stablehlo.negate %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<512x512xf32>
  return %3 : tensor<512x512xf32>
}

// Something else uses the gathered value, which must be gathered anyway.
func.func @other_use(%a: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<512x512xf32>, tensor<512x512xf32>) {
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<512x512xf32>
  %1 = stablehlo.tanh %0 : tensor<512x512xf32>
  %2 = sdy.all_slice [{"x"}, {}] %1 out_sharding=<@mesh, [{"x"}, {}]> : tensor<512x512xf32>
  return %0, %2 : tensor<512x512xf32>, tensor<512x512xf32>
}
