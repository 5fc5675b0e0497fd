// In the backward pass of a shard_map, JAX sums a gradient where the program uses a value that does not vary along
// an axis. Such a sum is not written in the program, and what the shard_map computes is in the backward pass.
// RUN: sdy-opt %s --check | filecheck %s
// RUN: sdy-opt %s --report | filecheck %s --check-prefix=REPORT

// Compilers add up first what a loop only adds up. The sum of another step or layer has no other place.
// CHECK:      1. model.py:8: 11.2 MiB (100%) sent in all_reduce along dp, backward
// CHECK-NEXT: why: gradient of w: the transpose of an implicit pvary

// REPORT: the transpose of an implicit pvary

#dot = loc("while/body/dot_general"("layer"("model.py":8:8)))
#psum = loc("while/body/psum_invariant"("layer"("model.py":8:8)))
#map = loc("jit(step)/transpose(jvp())/shard_map"("step"("model.py":12:8)))

sdy.mesh @mesh = <["dp"=4]>
func.func public @main(
    %w: tensor<256x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>} loc("w"),
    %x: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>} loc("x"))
    -> (tensor<256x256xf32> {jax.result_info = "result"}) {
  %0 = sdy.manual_computation(%x, %w) in_shardings=[<@mesh, [{"dp"}, {}]>, <@mesh, [{}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"dp"} (%a: tensor<16x256xf32>, %b: tensor<256x256xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %end = stablehlo.constant dense<30> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1:2 = stablehlo.while(%i = %zero, %sum = %b) : tensor<i32>, tensor<256x256xf32>
     cond {
      %c = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %t = stablehlo.dot_general %a, %sum, contracting_dims = [1] x [0] : (tensor<16x256xf32>, tensor<256x256xf32>) -> tensor<16x256xf32>
      %2 = stablehlo.dot_general %a, %t, contracting_dims = [0] x [0] : (tensor<16x256xf32>, tensor<16x256xf32>) -> tensor<256x256xf32> loc(#dot)
      %3 = "stablehlo.all_reduce"(%2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %s = stablehlo.add %p, %q : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<256x256xf32>) -> tensor<256x256xf32> loc(#psum)
      %4 = stablehlo.add %sum, %3 : tensor<256x256xf32>
      %5 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %5, %4 : tensor<i32>, tensor<256x256xf32>
    }
    sdy.return %1#1 : tensor<256x256xf32>
  } : (tensor<64x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32> loc(#map)
  %6 = stablehlo.subtract %w, %0 : tensor<256x256xf32>
  return %6 : tensor<256x256xf32>
}
