// RUN: sdy-opt %s --check | filecheck %s
// RUN: sdy-opt %s --lint=redundant-compute --lint-fail-on=never 2>&1 | filecheck %s --check-prefix=LINT

// In a shard_map, a weight is gathered along an axis for a batch that is sharded along it. Here, no input but the
// weight has "expert", so that its devices compute the same: that is said first, and no change of it can be tried.
//
// CHECK:      no change saves 1% of the time ({{[0-9]+}} tried); most is sent by
// CHECK-NEXT: 1. model.py:5: {{.*}} all_gather along data, expert
// CHECK-NEXT: why: the devices along "expert" have the same of the batch: tokens: P('data') →
// CHECK-NEXT: P(('data', 'expert')) for in_specs of shard_map; written in the program
//
// LINT:       model.py:6:2: warning: the devices along "expert" have the same of the batch: tokens: P('data')
// LINT-SAME:  repeat 1.07 GFLOP per device
// LINT:       help: shard them as P(('data', 'expert')), in the in_specs, too: not tried

#gather = loc("jit(step)/all_gather"("step"("model.py":5:1)))
#product = loc("jit(step)/dot_general"("step"("model.py":6:1)))
sdy.mesh @mesh = <["data"=2, "expert"=2]>
func.func @main(
    %w: tensor<512x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", "expert"}, {}]>, tf.aliasing_output = 0 : i32} loc("params['w']"),
    %x: tensor<4096x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("tokens"))
    -> (tensor<512x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", "expert"}, {}]>}, tensor<4096x1024xf32>) {
  %0:2 = sdy.manual_computation(%w, %x)
      in_shardings=[<@mesh, [{"data", "expert"}, {}]>, <@mesh, [{"data"}, {}]>]
      out_shardings=[<@mesh, [{"data", "expert"}, {}]>, <@mesh, [{"data"}, {}]>] manual_axes={"data", "expert"}
      (%a: tensor<128x1024xf32>, %b: tensor<2048x512xf32>) {
    %1 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}>
        : (tensor<128x1024xf32>) -> tensor<512x1024xf32> loc(#gather)
    %2 = stablehlo.dot_general %b, %1, contracting_dims = [1] x [0]
        : (tensor<2048x512xf32>, tensor<512x1024xf32>) -> tensor<2048x1024xf32> loc(#product)
    sdy.return %a, %2 : tensor<128x1024xf32>, tensor<2048x1024xf32>
  } : (tensor<512x1024xf32>, tensor<4096x512xf32>) -> (tensor<512x1024xf32>, tensor<4096x1024xf32>)
  return %0#0, %0#1 : tensor<512x1024xf32>, tensor<4096x1024xf32>
}
