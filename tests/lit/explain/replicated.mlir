// An input that is annotated with P(), and a collective that the program writes in a manual computation: no axis
// arrives at either, and the answer says what is written, what it sends, and what uses it.
// RUN: sdy-opt %s -sdy-propagation-pipeline=enable-insert-explicit-collectives=true --explain="params['head']" -o /dev/null | filecheck %s
// RUN: sdy-opt %s -sdy-propagation-pipeline=enable-insert-explicit-collectives=true --explain=model.py:41 -o /dev/null | filecheck %s --check-prefix=PSUM

// CHECK:      params['head']: f32[64,128] is not sharded
// CHECK-NEXT: in sdy: tensor<64x128xf32> [{}, {}]
// CHECK-NEXT: annotated P(): the input params['head']; replicated, 32.0 KiB on each of 8 devices
// CHECK:      reshard shards the convert as P(None, 'y')  model.py:59
// CHECK-NOT:  another axis

// PSUM:      all_reduce: f32[32,128] on each device  model.py:41
// PSUM-NEXT: written in the program: along {"y"}, a device sends 16.0 KiB; see --explain=#{{[0-9]+}}
// PSUM-NEXT: in a shard_map along "x", "y", along which the program says what each device computes
// PSUM-NEXT: model.py:50
// PSUM-NEXT: used by sine  model.py:42
// PSUM-NOT:  add
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%head: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>} loc("params['head']"),
    %a: tensor<128x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("x"),
    %w: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>} loc("w"))
    -> (tensor<64x128xbf16>, tensor<128x128xf32>) {
  %0 = stablehlo.convert %head : (tensor<64x128xf32>) -> tensor<64x128xbf16> loc("jit(f)/convert"("model.py":59:5))
  %7 = sdy.sharding_constraint %0 <@mesh, [{}, {}]> : tensor<64x128xbf16> loc("jit(f)/convert"("model.py":59:5))
  %1 = sdy.sharding_constraint %7 <@mesh, [{}, {"y"}]> : tensor<64x128xbf16> loc("jit(f)/reshard"("model.py":59:5))
  %2 = stablehlo.tanh %1 : tensor<64x128xbf16> loc("jit(f)/tanh"("model.py":60:5))
  %3 = sdy.manual_computation(%a, %w) in_shardings=[<@mesh, [{"x"}, {"y"}]>, <@mesh, [{"y"}, {}]>]
      out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x", "y"} (%b: tensor<32x32xf32>, %c: tensor<32x128xf32>) {
    %4 = stablehlo.dot_general %b, %c, contracting_dims = [1] x [0] : (tensor<32x32xf32>, tensor<32x128xf32>) -> tensor<32x128xf32> loc("dot_general"("model.py":40:5))
    %5 = "stablehlo.all_reduce"(%4) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
        replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>, use_global_device_ids}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32> loc("add"("model.py":41:5))
      stablehlo.return %s : tensor<f32> loc("psum"("model.py":41:5))
    }) : (tensor<32x128xf32>) -> tensor<32x128xf32> loc("psum"("model.py":41:5))
    %6 = stablehlo.sine %5 : tensor<32x128xf32> loc("sin"("model.py":42:5))
    sdy.return %6 : tensor<32x128xf32>
  } : (tensor<128x64xf32>, tensor<64x128xf32>) -> tensor<128x128xf32> loc("jit(f)/shard_map"("model.py":50:5))
  return %2, %3 : tensor<64x128xbf16>, tensor<128x128xf32>
}
