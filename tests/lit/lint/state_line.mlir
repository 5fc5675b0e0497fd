// The state of an optimizer is wrong where it is updated, and not where a gradient is resharded for it.
// RUN: sdy-opt %s --lint=cheaper-sharding --topology=tpu-v5e:2x2 2>&1 >%t.out | filecheck %s
// CHECK: model.py:12:9: warning: shard the input state['w'] as P(None, 'data'), and result[1]['w'] likewise (now P('data'))
// CHECK: model.py:9:5: note: why: model.py:9:

sdy.mesh @mesh = <["data"=4]>
func.func public @main(
    %w: tensor<1024x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}]>, tf.aliasing_output = 0 : i32} loc("params['w']"),
    %mu: tensor<1024x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>, tf.aliasing_output = 1 : i32} loc("state['w']"),
    %x: tensor<512x1024xf32> loc("x"))
    -> (tensor<1024x4096xf32> {jax.result_info = "result[0]['w']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}]>},
        tensor<1024x4096xf32> {jax.result_info = "result[1]['w']", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<512x1024xf32>, tensor<1024x4096xf32>) -> tensor<512x4096xf32> loc(#forward)
  %1 = stablehlo.tanh %0 : tensor<512x4096xf32> loc(#forward)
  %2 = stablehlo.dot_general %x, %1, contracting_dims = [0] x [0] : (tensor<512x1024xf32>, tensor<512x4096xf32>) -> tensor<1024x4096xf32> loc(#backward)
  %3 = stablehlo.add %mu, %2 : tensor<1024x4096xf32> loc(#update)
  %4 = stablehlo.subtract %w, %3 : tensor<1024x4096xf32> loc(#apply)
  return %4, %3 : tensor<1024x4096xf32>, tensor<1024x4096xf32>
}
#loss = loc("loss"("model.py":5:10))
#grad = loc("step"("model.py":9:4))
#step = loc("step"("model.py":12:8))
#optimizer = loc("update"("momentum.py":30:2))
#apply_at = loc("step"("model.py":13:8))
#forward = loc("jit(step)/jvp()/dot_general"(callsite(#loss at #grad)))
#backward = loc("jit(step)/transpose(jvp())/dot_general"(#grad))
#update = loc("jit(step)/add"(callsite(#optimizer at #step)))
#apply = loc("jit(step)/sub"(#apply_at))
