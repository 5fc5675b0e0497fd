// RUN: sdy-opt %s --report --report-rows=0 | filecheck %s

// JAX writes jax.buffer_donor on arguments that are donated if it does not know the shardings of the results. The result
// with the name of an argument is what the next step gets in its place; without names, the first one of its type.

// CHECK:      carried state: 20.0 KiB of donated arguments have another sharding as results: the next step
// CHECK-NEXT: reshards them
// CHECK-NEXT: argument
// CHECK-NEXT: params['b'] {{ *}} 0 {{ *}} <@mesh, [{"x"}, {}]> {{ *}} <@mesh, [{}, {}]>
// CHECK-NEXT: %arg1 {{ *}} 2 {{ *}} <@mesh, [{"x"}, {}]> {{ *}} <@mesh, [{}, {"x"}]>
// CHECK-NEXT: bytes  copies
sdy.mesh @mesh = <["x"=4]>
func.func @main(
    %a: tensor<64x64xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>} loc("params['a']"),
    %first: tensor<64x64xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %b: tensor<64x64xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("params['b']"),
    %kept: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("kept"))
    -> (tensor<64x64xf32> {jax.result_info = "result[0]['b']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
        tensor<64x64xf32> {jax.result_info = "result[0]['a']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
        tensor<64x64xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
        tensor<64x64xf32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.negate %b : tensor<64x64xf32>
  %1 = stablehlo.negate %a : tensor<64x64xf32>
  %2 = stablehlo.negate %first : tensor<64x64xf32>
  %3 = stablehlo.negate %kept : tensor<64x64xf32>
  return %0, %1, %2, %3 : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}
