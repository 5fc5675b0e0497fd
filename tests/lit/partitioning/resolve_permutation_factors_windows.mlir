// RUN: sdy-opt %s -sdy-resolve-permutation-factors | filecheck %s
// RUN: sdy-opt %s -sdy-resolve-permutation-factors=enable-halo-exchange=false | filecheck %s --check-prefix=WHOLE

// Windows of two with a stride of two lie in one shard each. They stay sharded unless the option is off.

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func.func @pooling(%arg0: tensor<8xf32>{{.*}}, %arg1: tensor<f32>) -> (tensor<4xf32>{{.*}})
// CHECK-NEXT: %0 = "stablehlo.reduce_window"(%arg0, %arg1) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
// CHECK-NEXT: ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
// CHECK-NEXT: %1 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
// CHECK-NEXT: stablehlo.return %1 : tensor<f32>
// CHECK-NEXT: }){{.*}} : (tensor<8xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT: return %0 : tensor<4xf32>
// WHOLE-LABEL: func.func @pooling(%arg0: tensor<8xf32>{{.*}}, %arg1: tensor<f32>) -> (tensor<4xf32>{{.*}})
// WHOLE-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<8xf32>
// WHOLE-NEXT: %1 = "stablehlo.reduce_window"(%0, %arg1) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
// WHOLE-NEXT: ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
// WHOLE-NEXT: %3 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
// WHOLE-NEXT: stablehlo.return %3 : tensor<f32>
// WHOLE-NEXT: }){{.*}} : (tensor<8xf32>, tensor<f32>) -> tensor<4xf32>
// WHOLE-NEXT: %2 = sdy.reshard %1 <@mesh, [{"x"}]> : tensor<4xf32>
// WHOLE-NEXT: return %2 : tensor<4xf32>
func.func @pooling(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %low: tensor<f32>) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = "stablehlo.reduce_window"(%a, %low) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.maximum %p, %q : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Windows of three reach into the next shard, by two elements. Shards of the result have three elements, of which
// the second device computes from the second one on.
// CHECK-LABEL: func.func @overlap(%arg0: tensor<8xf32>{{.*}}, %arg1: tensor<f32>) -> (tensor<6xf32>{{.*}})
// CHECK-NEXT: %0 = sdy.manual_computation(%arg1, %arg0) in_shardings=[<@mesh, []>, <@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg2: tensor<f32>, %arg3: tensor<4xf32>) {
// CHECK-NEXT: %1 = stablehlo.slice %arg3 [3:4] : (tensor<4xf32>) -> tensor<1xf32>
// CHECK-NEXT: %2 = "stablehlo.collective_permute"(%1) <{channel_handle = #stablehlo.channel_handle<handle = {{[0-9]+}}, type = 1>, source_target_pairs = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>}> : (tensor<1xf32>) -> tensor<1xf32>
// CHECK-NEXT: %3 = stablehlo.slice %arg3 [0:1] : (tensor<4xf32>) -> tensor<1xf32>
// CHECK-NEXT: %4 = "stablehlo.collective_permute"(%3) <{channel_handle = #stablehlo.channel_handle<handle = {{[0-9]+}}, type = 1>, source_target_pairs = dense<{{\[\[}}1, 0]]> : tensor<1x2xi64>}> : (tensor<1xf32>) -> tensor<1xf32>
// CHECK-NEXT: %5 = stablehlo.concatenate %2, %arg3, %4, dim = 0 : (tensor<1xf32>, tensor<4xf32>, tensor<1xf32>) -> tensor<6xf32>
// CHECK-NEXT: %6 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %7 = stablehlo.convert %6 : (tensor<ui32>) -> tensor<i64>
// CHECK-NEXT: %c = stablehlo.constant dense<-1> : tensor<i64>
// CHECK-NEXT: %8 = stablehlo.multiply %7, %c : tensor<i64>
// CHECK-NEXT: %c_0 = stablehlo.constant dense<1> : tensor<i64>
// CHECK-NEXT: %9 = stablehlo.add %8, %c_0 : tensor<i64>
// CHECK-NEXT: %c_1 = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT: %10 = stablehlo.dynamic_slice %5, %9, sizes = [5] : (tensor<6xf32>, tensor<i64>) -> tensor<5xf32>
// CHECK-NEXT: %11 = "stablehlo.reduce_window"(%10, %arg2) <{base_dilations = array<i64: 1>, padding = dense<0> : tensor<1x2xi64>, window_dimensions = array<i64: 3>}> ({
// CHECK-NEXT: ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
// CHECK-NEXT: %12 = stablehlo.maximum %arg4, %arg5 : tensor<f32>
// CHECK-NEXT: stablehlo.return %12 : tensor<f32>
// CHECK-NEXT: }) : (tensor<5xf32>, tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT: sdy.return %11 : tensor<3xf32>
// CHECK-NEXT: } : (tensor<f32>, tensor<8xf32>) -> tensor<6xf32>
// CHECK-NEXT: return %0 : tensor<6xf32>
// WHOLE-LABEL: func.func @overlap(%arg0: tensor<8xf32>{{.*}}, %arg1: tensor<f32>) -> (tensor<6xf32>{{.*}})
// WHOLE-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<8xf32>
// WHOLE-NEXT: %1 = "stablehlo.reduce_window"(%0, %arg1) <{window_dimensions = array<i64: 3>}> ({
// WHOLE-NEXT: ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
// WHOLE-NEXT: %3 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
// WHOLE-NEXT: stablehlo.return %3 : tensor<f32>
// WHOLE-NEXT: }){{.*}} : (tensor<8xf32>, tensor<f32>) -> tensor<6xf32>
// WHOLE-NEXT: %2 = sdy.reshard %1 <@mesh, [{"x"}]> : tensor<6xf32>
// WHOLE-NEXT: return %2 : tensor<6xf32>
func.func @overlap(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %low: tensor<f32>) -> (tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = "stablehlo.reduce_window"(%a, %low) <{window_dimensions = array<i64: 3>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.maximum %p, %q : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>, tensor<f32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// A convolution of 3x3 over a sharded image, too: two rows are received.
// CHECK-LABEL: func.func @convolution(%arg0: tensor<1x8x8x1xf32>{{.*}}, %arg1: tensor<3x3x1x1xf32>) -> (tensor<1x6x6x1xf32>{{.*}})
// CHECK-NEXT: %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{}, {"x"}, {}, {}]>, <@mesh, [{}, {}, {}, {}]>] out_shardings=[<@mesh, [{}, {"x"}, {}, {}]>] manual_axes={"x"} (%arg2: tensor<1x4x8x1xf32>, %arg3: tensor<3x3x1x1xf32>) {
// CHECK-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %1 = stablehlo.slice %arg2 [0:1, 3:4, 0:8, 0:1] : (tensor<1x4x8x1xf32>) -> tensor<1x1x8x1xf32>
// CHECK-NEXT: %2 = "stablehlo.collective_permute"(%1) <{channel_handle = #stablehlo.channel_handle<handle = {{[0-9]+}}, type = 1>, source_target_pairs = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>}> : (tensor<1x1x8x1xf32>) -> tensor<1x1x8x1xf32>
// CHECK-NEXT: %3 = stablehlo.slice %arg2 [0:1, 0:1, 0:8, 0:1] : (tensor<1x4x8x1xf32>) -> tensor<1x1x8x1xf32>
// CHECK-NEXT: %4 = "stablehlo.collective_permute"(%3) <{channel_handle = #stablehlo.channel_handle<handle = {{[0-9]+}}, type = 1>, source_target_pairs = dense<{{\[\[}}1, 0]]> : tensor<1x2xi64>}> : (tensor<1x1x8x1xf32>) -> tensor<1x1x8x1xf32>
// CHECK-NEXT: %5 = stablehlo.concatenate %2, %arg2, %4, dim = 1 : (tensor<1x1x8x1xf32>, tensor<1x4x8x1xf32>, tensor<1x1x8x1xf32>) -> tensor<1x6x8x1xf32>
// CHECK-NEXT: %6 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %7 = stablehlo.convert %6 : (tensor<ui32>) -> tensor<i64>
// CHECK-NEXT: %c = stablehlo.constant dense<-1> : tensor<i64>
// CHECK-NEXT: %8 = stablehlo.multiply %7, %c : tensor<i64>
// CHECK-NEXT: %c_0 = stablehlo.constant dense<1> : tensor<i64>
// CHECK-NEXT: %9 = stablehlo.add %8, %c_0 : tensor<i64>
// CHECK-NEXT: %c_1 = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT: %10 = stablehlo.dynamic_slice %5, %c_1, %9, %c_1, %c_1, sizes = [1, 5, 8, 1] : (tensor<1x6x8x1xf32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x5x8x1xf32>
// CHECK-NEXT: %11 = stablehlo.convolution(%10, %arg3) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = {{\[\[}}0, 0], [0, 0]], lhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x5x8x1xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x6x1xf32>
// CHECK-NEXT: sdy.return %11 : tensor<1x3x6x1xf32>
// CHECK-NEXT: } : (tensor<1x8x8x1xf32>, tensor<3x3x1x1xf32>) -> tensor<1x6x6x1xf32>
// CHECK-NEXT: return %0 : tensor<1x6x6x1xf32>
// WHOLE-LABEL: func.func @convolution(%arg0: tensor<1x8x8x1xf32>{{.*}}, %arg1: tensor<3x3x1x1xf32>) -> (tensor<1x6x6x1xf32>{{.*}})
// WHOLE-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}, {}, {}, {}]> : tensor<1x8x8x1xf32>
// WHOLE-NEXT: %1 = stablehlo.convolution(%0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64{{.*}} : (tensor<1x8x8x1xf32>, tensor<3x3x1x1xf32>) -> tensor<1x6x6x1xf32>
// WHOLE-NEXT: %2 = sdy.reshard %1 <@mesh, [{}, {"x"}, {}, {}]> : tensor<1x6x6x1xf32>
// WHOLE-NEXT: return %2 : tensor<1x6x6x1xf32>
func.func @convolution(%a: tensor<1x8x8x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {}]>}, %k: tensor<3x3x1x1xf32>) -> (tensor<1x6x6x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {}]>}) {
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}, {}, {}]>]>} : (tensor<1x8x8x1xf32>, tensor<3x3x1x1xf32>) -> tensor<1x6x6x1xf32>
  return %0 : tensor<1x6x6x1xf32>
}
