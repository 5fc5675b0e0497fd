// RUN: sdy-opt %s --check | filecheck %s
// RUN: sdy-opt %s --lint=cheaper-sharding --lint-fail-on=never 2>&1 | filecheck %s --check-prefix=LINT
// RUN: sdy-opt %s --explain='#1' | filecheck %s --check-prefix=EXPLAIN

// in_specs of a shard_map gather along "expert" what a loop computes with and exchanges then: all devices along it have
// that. What comes back is different on each of them, and so is what is scaled by the index of the device.
//
// CHECK:      1. write P(('data', 'expert')) in in_specs of the shard_map at model.py:8, and in out_specs
// CHECK:      why: the devices along "expert" exchange what all of them have: in_specs=P('data') gather what is
// CHECK-NEXT: P(('data', 'expert')) (6.00 MiB); model.py:5 and 2 lines like it
// CHECK-NOT:  exchange what
//
// LINT:       model.py:5:2: warning: the devices along "expert" exchange what all of them have: in_specs=P('data')
// LINT:       help: write P(('data', 'expert')) in in_specs of the shard_map at model.py:8
// LINT-NOT:   exchange what
//
// EXPLAIN:      #1 all_to_all
// EXPLAIN-NEXT: written in the program
// EXPLAIN-NEXT: help: write P(('data', 'expert')) in in_specs of the shard_map at model.py:8
// EXPLAIN:      why: the devices along "expert" exchange what all of them have: in_specs=P('data') gather
// EXPLAIN-NOT:  no help was found

#same = loc("jit(step)/all_to_all"("step"("model.py":5:1)))
#back = loc("jit(step)/all_to_all"("step"("model.py":6:1)))
#index = loc("jit(step)/all_to_all"("step"("model.py":7:1)))
#map = loc("jit(step)/shard_map"("step"("model.py":8:1)))
sdy.mesh @mesh = <["data"=2, "expert"=4]>
func.func @main(%x: tensor<4096x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", "expert"}, {}]>} loc("tokens"),
    %s: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"expert"}]>})
    -> tensor<4096x1024xf32> {
  %0 = sdy.manual_computation(%x, %s) in_shardings=[<@mesh, [{"data"}, {}]>, <@mesh, [{"expert"}]>]
      out_shardings=[<@mesh, [{"data"}, {}]>] manual_axes={"data", "expert"}
      (%a: tensor<2048x1024xf32>, %b: tensor<1xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %end = stablehlo.constant dense<3> : tensor<i32>
    %1:3 = stablehlo.while(%i = %zero, %y = %a, %z = %a) : tensor<i32>, tensor<2048x1024xf32>, tensor<2048x1024xf32>
    cond {
      %6 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %6 : tensor<i1>
    } do {
      %6 = stablehlo.add %i, %one : tensor<i32>
      %7 = stablehlo.cosine %y : tensor<2048x1024xf32>
      %8 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<1xf32>) -> tensor<2048x1024xf32>
      %9 = stablehlo.multiply %z, %8 : tensor<2048x1024xf32>
      stablehlo.return %6, %7, %9 : tensor<i32>, tensor<2048x1024xf32>, tensor<2048x1024xf32>
    }
    %2 = "stablehlo.all_to_all"(%1#1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
        concat_dimension = 0 : i64, split_dimension = 0 : i64, split_count = 4 : i64,
        replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>}>
        : (tensor<2048x1024xf32>) -> tensor<2048x1024xf32> loc(#same)
    %3 = "stablehlo.all_to_all"(%2) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>,
        concat_dimension = 0 : i64, split_dimension = 0 : i64, split_count = 4 : i64,
        replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>}>
        : (tensor<2048x1024xf32>) -> tensor<2048x1024xf32> loc(#back)
    %4 = "stablehlo.all_to_all"(%1#2) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>,
        concat_dimension = 0 : i64, split_dimension = 0 : i64, split_count = 4 : i64,
        replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>}>
        : (tensor<2048x1024xf32>) -> tensor<2048x1024xf32> loc(#index)
    %5 = stablehlo.add %3, %4 : tensor<2048x1024xf32>
    sdy.return %5 : tensor<2048x1024xf32>
  } : (tensor<4096x1024xf32>, tensor<4xf32>) -> tensor<4096x1024xf32> loc(#map)
  return %0 : tensor<4096x1024xf32>
}
