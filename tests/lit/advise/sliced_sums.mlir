// RUN: sdy-opt %s --advise -o %t.out | filecheck %s
// RUN: filecheck %s --check-prefix=OUT --input-file=%t.out
// RUN: sdy-opt %s --lint=cheaper-sharding --lint-fail-on=never 2>&1 | filecheck %s --check-prefix=LINT
// RUN: sdy-opt %s --check --topology=tpu-v5e | filecheck %s --check-prefix=CHECK-TPU
// RUN: sdy-opt %s --explain='#0' -o /dev/null | filecheck %s --check-prefix=EXPLAIN

// A psum that is sliced by the axis_index in the manual computation, with a mean and an all_to_all of other
// dimensions before the slice, and its gradient: an update of zeros that is summed, by the index of the first pass.
//
// CHECK:      1. write jax.lax.psum_scatter(…, 'model', scatter_dimension=2, tiled=True) for the sliced psum at
// CHECK-NEXT: model.py:12, then psum along 'data'
// LINT:  model.py:12:6: warning: write jax.lax.psum_scatter(…, 'model', scatter_dimension=2, tiled=True) for the sliced psum at model.py:12, then psum along 'data': -{{.*}} [cheaper-sharding]
// LINT:  note: why: each device keeps only its part of the sum; model.py:12: 28.0 MiB ({{[0-9]+}}%) sent, {{.*}}: written in the program
// CHECK-TPU: 1. write jax.lax.psum_scatter(…, 'model', scatter_dimension=2, tiled=True) for the sliced psum at
// CHECK-TPU-NEXT: model.py:12, then psum along 'data': -1
// CHECK-TPU: 1 saves at other lines, too: 3.00 MiB of 4.00 MiB at sliced_sums.mlir:{{[0-9]+}}
// EXPLAIN: help: write jax.lax.psum_scatter(…, 'model', scatter_dimension=2, tiled=True) for the sliced psum
// EXPLAIN: tried: {{.*}}; this line sends 16.0 MiB in place of 28.0 MiB
//
// OUT:      "stablehlo.reduce_scatter"
// OUT-SAME: replica_groups = dense<{{\[\[}}0, 1, 2, 3], [4, 5, 6, 7]]>
// OUT-SAME: scatter_dimension = 2
// OUT:      (tensor<4x512x1024xf32>) -> tensor<4x512x256xf32>
// OUT:      "stablehlo.all_reduce"
// OUT-SAME: replica_groups = dense<{{\[\[}}0, 4], [1, 5], [2, 6], [3, 7]]>
// OUT:      stablehlo.divide {{.*}} : tensor<4x512x256xf32>
// OUT:      "stablehlo.all_to_all"
// OUT:      (tensor<4x512x256xf32>) -> tensor<8x256x256xf32>
// OUT-NOT:  stablehlo.dynamic_slice
// OUT:      sdy.return
// OUT:      "stablehlo.all_reduce"
// OUT-SAME: replica_groups = dense<{{\[\[}}0, 4], [1, 5], [2, 6], [3, 7]]>
// OUT:      (tensor<4x512x256xf32>) -> tensor<4x512x256xf32>
// OUT:      "stablehlo.all_gather"
// OUT-SAME: all_gather_dim = 2
// OUT-SAME: replica_groups = dense<{{\[\[}}0, 1, 2, 3], [4, 5, 6, 7]]>
// OUT:      (tensor<4x512x256xf32>) -> tensor<4x512x1024xf32>
// OUT-NOT:  stablehlo.dynamic_update_slice
sdy.mesh @mesh = <["data"=2, "model"=4]>
func.func @main(%x: tensor<4x512x2048xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"data", "model"}]>},
    %w: tensor<2048x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", "model"}, {}]>})
    -> (tensor<16x256x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {"model"}]>},
        tensor<4x512x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"data", "model"}]>}) {
  %0:2 = sdy.manual_computation(%x, %w)
      in_shardings=[<@mesh, [{}, {}, {"data", "model"}]>, <@mesh, [{"data", "model"}, {}]>]
      out_shardings=[<@mesh, [{"data"}, {}, {"model"}]>, <@mesh, [{"data", "model"}]>]
      manual_axes={"data", "model"} (%a: tensor<4x512x256xf32>, %b: tensor<256x1024xf32>) {
    %1 = stablehlo.dot_general %a, %b, contracting_dims = [2] x [0] : (tensor<4x512x256xf32>, tensor<256x1024xf32>) -> tensor<4x512x1024xf32>
    %2 = "stablehlo.all_reduce"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
        replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4x512x1024xf32>) -> tensor<4x512x1024xf32> loc("psum"("model.py":12:5))
    %eight = stablehlo.constant dense<8.0> : tensor<f32>
    %count = stablehlo.broadcast_in_dim %eight, dims = [] : (tensor<f32>) -> tensor<4x512x1024xf32>
    %3 = stablehlo.divide %2, %count : tensor<4x512x1024xf32>
    %4 = "stablehlo.all_to_all"(%3) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>,
        concat_dimension = 0 : i64, replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>,
        split_count = 2 : i64, split_dimension = 1 : i64}> : (tensor<4x512x1024xf32>) -> tensor<8x256x1024xf32>
    // axis_index("model") * 1024 // 4
    %size = stablehlo.constant dense<4> : tensor<ui32>
    %id = stablehlo.partition_id : tensor<ui32>
    %number = stablehlo.remainder %id, %size : tensor<ui32>
    %index = stablehlo.convert %number : (tensor<ui32>) -> tensor<i32>
    %whole = stablehlo.constant dense<1024> : tensor<i32>
    %5 = stablehlo.multiply %index, %whole : tensor<i32>
    %6 = func.call @quarter(%5) : (tensor<i32>) -> tensor<i32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %is_negative = stablehlo.compare LT, %6, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %7 = stablehlo.add %6, %whole : tensor<i32>
    %start = stablehlo.select %is_negative, %7, %6 : tensor<i1>, tensor<i32>
    %8 = stablehlo.dynamic_slice %4, %zero, %zero, %start, sizes = [8, 256, 256] : (tensor<8x256x1024xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<8x256x256xf32>
    %9 = stablehlo.reshape %start : (tensor<i32>) -> tensor<1xi32>
    sdy.return %8, %9 : tensor<8x256x256xf32>, tensor<1xi32>
  } : (tensor<4x512x2048xf32>, tensor<2048x1024xf32>) -> (tensor<16x256x1024xf32>, tensor<8xi32>)
  %gradient = stablehlo.sine %0#0 : tensor<16x256x1024xf32>
  %10 = sdy.manual_computation(%gradient, %0#1)
      in_shardings=[<@mesh, [{"data"}, {}, {"model"}]>, <@mesh, [{"data", "model"}]>]
      out_shardings=[<@mesh, [{}, {}, {"data", "model"}]>]
      manual_axes={"data", "model"} (%g: tensor<8x256x256xf32>, %i: tensor<1xi32>) {
    %1 = stablehlo.reshape %i : (tensor<1xi32>) -> tensor<i32>
    %cst = stablehlo.constant dense<0.0> : tensor<f32>
    %zeros = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x256x1024xf32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.dynamic_update_slice %zeros, %g, %zero, %zero, %1 : (tensor<8x256x1024xf32>, tensor<8x256x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<8x256x1024xf32>
    %3 = "stablehlo.all_to_all"(%2) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>,
        concat_dimension = 1 : i64, replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>,
        split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<8x256x1024xf32>) -> tensor<4x512x1024xf32>
    %4 = "stablehlo.all_reduce"(%3) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
        replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4x512x1024xf32>) -> tensor<4x512x1024xf32> loc("psum"("model.py":12:5))
    sdy.return %4 : tensor<4x512x1024xf32>
  } : (tensor<16x256x1024xf32>, tensor<8xi32>) -> tensor<4x512x8192xf32>
  return %0#0, %10 : tensor<16x256x1024xf32>, tensor<4x512x8192xf32>
}
func.func private @quarter(%arg: tensor<i32>) -> tensor<i32> {
  %four = stablehlo.constant dense<4> : tensor<i32>
  %0 = stablehlo.divide %arg, %four : tensor<i32>
  return %0 : tensor<i32>
}
