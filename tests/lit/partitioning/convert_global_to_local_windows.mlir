// RUN: sdy-opt %s -sdy-convert-global-to-local | filecheck %s

// Convolutions and windows.

sdy.mesh @mesh = <["x"=2]>

// Each device convolves its shard of the batch.
// CHECK-LABEL: func.func @batch(%arg0: tensor<2x8x8x3xf32>{{.*}}, %arg1: tensor<3x3x3x16xf32>) -> (tensor<2x6x6x16xf32>{{.*}})
// CHECK-NEXT: %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x3xf32>, tensor<3x3x3x16xf32>) -> tensor<2x6x6x16xf32>
// CHECK-NEXT: return %0 : tensor<2x6x6x16xf32>
func.func @batch(%a: tensor<4x8x8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}, {}]>}, %k: tensor<3x3x3x16xf32>) -> (tensor<4x6x6x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}, {}]>}) {
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}, {}]>]>} : (tensor<4x8x8x3xf32>, tensor<3x3x3x16xf32>) -> tensor<4x6x6x16xf32>
  return %0 : tensor<4x6x6x16xf32>
}

// Two feature groups on two devices: one group on each.
// CHECK-LABEL: func.func @groups(%arg0: tensor<4x8x8x2xf32>{{.*}}, %arg1: tensor<3x3x2x8xf32>{{.*}}) -> (tensor<4x6x6x8xf32>{{.*}})
// CHECK-NEXT: %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x8x8x2xf32>, tensor<3x3x2x8xf32>) -> tensor<4x6x6x8xf32>
// CHECK-NEXT: return %0 : tensor<4x6x6x8xf32>
func.func @groups(%a: tensor<4x8x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {"x"}]>}, %k: tensor<3x3x2x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {"x"}]>}) -> (tensor<4x6x6x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {"x"}]>}) {
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {}, {"x"}]>]>} : (tensor<4x8x8x4xf32>, tensor<3x3x2x16xf32>) -> tensor<4x6x6x16xf32>
  return %0 : tensor<4x6x6x16xf32>
}

// A kernel with a sharded spatial dimension: each device slices the elements that its shard of the kernel is
// multiplied with. (C++ multiplies every shard with the first elements.)
// CHECK-LABEL: func.func @kernel(%arg0: tensor<1x9x1xf32>, %arg1: tensor<2x1x1xf32>{{.*}}) -> tensor<1x6x1xf32>
// CHECK-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %0 = stablehlo.pad %arg0, %cst, low = [0, 0, 0], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<1x9x1xf32>, tensor<f32>) -> tensor<1x9x1xf32>
// CHECK-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// CHECK-NEXT: %1 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %c_0 = stablehlo.constant dense<[0, 2]> : tensor<2xi32>
// CHECK-NEXT: %2 = stablehlo.dynamic_slice %c_0, %1, sizes = [1] : (tensor<2xi32>, tensor<ui32>) -> tensor<1xi32>
// CHECK-NEXT: %3 = stablehlo.reshape %2 : (tensor<1xi32>) -> tensor<i32>
// CHECK-NEXT: %4 = stablehlo.dynamic_slice %0, %c, %3, %c, sizes = [1, 7, 1] : (tensor<1x9x1xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x7x1xf32>
// CHECK-NEXT: %5 = stablehlo.convolution(%4, %arg1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x7x1xf32>, tensor<2x1x1xf32>) -> tensor<1x6x1xf32>
// CHECK-NEXT: %6 = "stablehlo.all_reduce"(%5) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>, use_global_device_ids}> ({
// CHECK-NEXT: ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
// CHECK-NEXT: %7 = stablehlo.add %arg2, %arg3 : tensor<f32>
// CHECK-NEXT: stablehlo.return %7 : tensor<f32>
// CHECK-NEXT: }) : (tensor<1x6x1xf32>) -> tensor<1x6x1xf32>
// CHECK-NEXT: return %6 : tensor<1x6x1xf32>
func.func @kernel(%a: tensor<1x9x1xf32>, %k: tensor<4x1x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> tensor<1x6x1xf32> {
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x9x1xf32>, tensor<4x1x1xf32>) -> tensor<1x6x1xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}, {}]> : tensor<1x6x1xf32>
  return %1 : tensor<1x6x1xf32>
}

// The whole kernel is larger than the operand.
// CHECK-LABEL: func.func @no_window
// CHECK:         stablehlo.dynamic_slice {{.*}}, sizes = [1, 0, 1]
// CHECK:         stablehlo.convolution{{.*}}(tensor<1x0x1xf32>, tensor<2x1x1xf32>) -> tensor<1x0x1xf32>
func.func @no_window(%a: tensor<1x1x1xf32>, %k: tensor<4x1x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> tensor<1x0x1xf32> {
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x1xf32>, tensor<4x1x1xf32>) -> tensor<1x0x1xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}, {}]> : tensor<1x0x1xf32>
  return %1 : tensor<1x0x1xf32>
}

// Windows that do not overlap, in shards of whole windows.
// CHECK-LABEL: func.func @pooling(%arg0: tensor<4xf32>{{.*}}, %arg1: tensor<f32>) -> (tensor<2xf32>{{.*}})
// CHECK-NEXT: %0 = "stablehlo.reduce_window"(%arg0, %arg1) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
// CHECK-NEXT: ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
// CHECK-NEXT: %1 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
// CHECK-NEXT: stablehlo.return %1 : tensor<f32>
// CHECK-NEXT: }){{.*}} : (tensor<4xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT: return %0 : tensor<2xf32>
func.func @pooling(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %low: tensor<f32>) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = "stablehlo.reduce_window"(%a, %low) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.maximum %p, %q : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
