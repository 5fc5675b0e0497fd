// An argument without keys, such as a cache, is donated by its name, if its new value is returned: that has other
// elements written into it. An input of the type of a result is not.
// RUN: sdy-opt %s --check --topology=tpu-v5e --device-memory=50MiB | filecheck %s

// CHECK:     jax.jit(…, donate_argnames=['k_cache']): as much sent, -16.0 MiB memory
// CHECK-NOT: donate

sdy.mesh @mesh = <["x"=4]>
func.func public @main(
    %cache: tensor<64x1024x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>} loc("k_cache"),
    %x: tensor<64x1024x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>} loc("x"),
    %k: tensor<64x1x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>} loc("k"),
    %position: tensor<i32> loc("position"))
    -> (tensor<64x1024x256xf32> {jax.result_info = "result[0]"}, tensor<64x1024x256xf32> {jax.result_info = "result[1]"}) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %new = stablehlo.dynamic_update_slice %cache, %k, %zero, %position, %zero
    : (tensor<64x1024x256xf32>, tensor<64x1x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<64x1024x256xf32>
  %y = stablehlo.tanh %x : tensor<64x1024x256xf32>
  return %new, %y : tensor<64x1024x256xf32>, tensor<64x1024x256xf32>
}
