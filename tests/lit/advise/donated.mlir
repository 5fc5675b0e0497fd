// RUN: sdy-opt %s --advise | filecheck %s
// RUN: sdy-opt %s --check | filecheck %s --check-prefix=CHECKED
// RUN: sdy-opt %s --advise --topology=tpu-v5e | filecheck %s --check-prefix=MACHINE

// The result takes the memory of the argument that is donated to it. A change after which it is sharded
// otherwise has to reshard it for the next step, and is none: the argument changes with the result.

// CHECK:      shard the input params['w'] as P(None, 'x'), and result[0]['w'] likewise
// CHECK-NOT:  between steps

// That is so for the links of a machine, too.
// MACHINE:      shard the input params['w'] as P(None, 'x'), and result[0]['w'] likewise
// MACHINE-NOT:  between steps

// A check shards the argument that a gradient updates, and the result in its place: that sends nothing between steps.
// CHECKED:      1. shard the input params['w'] as P(None, 'x'), and result[0]['w'] likewise (now P()): -1.31 MiB
// CHECKED-NEXT: sent, -2.23 MiB memory{{$}}

// JAX writes jax.buffer_donor if it does not know the sharding of the result: it is the same.
// RUN: sed 's/tf.aliasing_output = 0 : i32/jax.buffer_donor = true/' %s > %t.mlir
// RUN: sdy-opt %t.mlir --advise | filecheck %s
// RUN: sdy-opt %t.mlir --check | filecheck %s --check-prefix=CHECKED
// RUN: sdy-opt %t.mlir --lint=cheaper-sharding --lint-config=- -o /dev/null 2>&1 | filecheck %s --check-prefix=LINT

// LINT: warning: shard the input params['w'] as P({{.*}}), and result[0]['w'] likewise

#forward = loc("jit(step)/jvp()/dot_general"("layer"("model.py":6:5)))
#backward = loc("jit(step)/transpose(jvp())/dot_general"("layer"("model.py":7:5)))
sdy.mesh @mesh = <["x"=4]>
func.func public @main(
    %a: tensor<64x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("batch"),
    %w: tensor<1024x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>, tf.aliasing_output = 0 : i32} loc("params['w']"))
    -> (tensor<1024x256xf32> {jax.result_info = "result[0]['w']"}) {
  %y = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<64x1024xf32>, tensor<1024x256xf32>) -> tensor<64x256xf32> loc(#forward)
  %g = stablehlo.dot_general %a, %y, contracting_dims = [0] x [0] : (tensor<64x1024xf32>, tensor<64x256xf32>) -> tensor<1024x256xf32> loc(#backward)
  %new_w = stablehlo.subtract %w, %g : tensor<1024x256xf32>
  return %new_w : tensor<1024x256xf32>
}
