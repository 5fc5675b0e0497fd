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

// Windows of three reach into the next shard.
// CHECK-LABEL: func.func @overlap(%arg0: tensor<8xf32>{{.*}}, %arg1: tensor<f32>) -> (tensor<6xf32>{{.*}})
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<8xf32>
// CHECK-NEXT: %1 = "stablehlo.reduce_window"(%0, %arg1) <{window_dimensions = array<i64: 3>}> ({
// CHECK-NEXT: ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
// CHECK-NEXT: %3 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
// CHECK-NEXT: stablehlo.return %3 : tensor<f32>
// CHECK-NEXT: }){{.*}} : (tensor<8xf32>, tensor<f32>) -> tensor<6xf32>
// CHECK-NEXT: %2 = sdy.reshard %1 <@mesh, [{"x"}]> : tensor<6xf32>
// CHECK-NEXT: return %2 : tensor<6xf32>
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

// A convolution of 3x3 over a sharded image, too.
// CHECK-LABEL: func.func @convolution(%arg0: tensor<1x8x8x1xf32>{{.*}}, %arg1: tensor<3x3x1x1xf32>) -> (tensor<1x6x6x1xf32>{{.*}})
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}, {}, {}, {}]> : tensor<1x8x8x1xf32>
// CHECK-NEXT: %1 = stablehlo.convolution(%0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64{{.*}} : (tensor<1x8x8x1xf32>, tensor<3x3x1x1xf32>) -> tensor<1x6x6x1xf32>
// CHECK-NEXT: %2 = sdy.reshard %1 <@mesh, [{}, {"x"}, {}, {}]> : tensor<1x6x6x1xf32>
// CHECK-NEXT: return %2 : tensor<1x6x6x1xf32>
// WHOLE-LABEL: func.func @convolution(%arg0: tensor<1x8x8x1xf32>{{.*}}, %arg1: tensor<3x3x1x1xf32>) -> (tensor<1x6x6x1xf32>{{.*}})
// WHOLE-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}, {}, {}, {}]> : tensor<1x8x8x1xf32>
// WHOLE-NEXT: %1 = stablehlo.convolution(%0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64{{.*}} : (tensor<1x8x8x1xf32>, tensor<3x3x1x1xf32>) -> tensor<1x6x6x1xf32>
// WHOLE-NEXT: %2 = sdy.reshard %1 <@mesh, [{}, {"x"}, {}, {}]> : tensor<1x6x6x1xf32>
// WHOLE-NEXT: return %2 : tensor<1x6x6x1xf32>
func.func @convolution(%a: tensor<1x8x8x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {}]>}, %k: tensor<3x3x1x1xf32>) -> (tensor<1x6x6x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {}]>}) {
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}, {}, {}]>]>} : (tensor<1x8x8x1xf32>, tensor<3x3x1x1xf32>) -> tensor<1x6x6x1xf32>
  return %0 : tensor<1x6x6x1xf32>
}
