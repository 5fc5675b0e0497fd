// RUN: sdy-opt %s -sdy-pad-for-divisibility | filecheck %s

// A padded image or kernel must give the same result.

sdy.mesh @mesh = <["x"=4, "y"=2]>

// The window fits into the padded image once more; that result is cut.
// CHECK-LABEL: func.func @more_windows
// CHECK: %[[CONV:.*]] = stablehlo.convolution({{.*}}window = {} {{.*}} : (tensor<1x8x1xf32>, tensor<3x1x1xf32>) -> tensor<1x6x1xf32>
// CHECK-NEXT: stablehlo.slice %[[CONV]] [0:1, 0:5, 0:1] {{.*}} -> tensor<1x5x1xf32>
func.func @more_windows(%a: tensor<1x7x1xf32>, %k: tensor<3x1x1xf32>) -> tensor<1x5x1xf32> {
  %0 = sdy.all_slice [{}, {"x"}, {}] %a out_sharding=<@mesh, [{}, {"x"}, {}]> : tensor<1x7x1xf32>
  %1 = stablehlo.convolution(%0, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {}]>]>} : (tensor<1x7x1xf32>, tensor<3x1x1xf32>) -> tensor<1x5x1xf32>
  return %1 : tensor<1x5x1xf32>
}

// The padded kernel fits once less; more padding after the image makes up for it. The kernel is reversed, so
// its padding comes first, and needs padding before the image.
// CHECK-LABEL: func.func @fewer_windows
// CHECK: stablehlo.convolution({{.*}}window = {pad = {{\[\[}}1, 0]], reverse = [true]} {{.*}} : (tensor<1x8x1xf32>, tensor<4x1x1xf32>) -> tensor<1x6x1xf32>
// CHECK-NEXT: return
func.func @fewer_windows(%a: tensor<1x8x1xf32>, %k: tensor<3x1x1xf32>) -> tensor<1x6x1xf32> {
  %0 = sdy.all_slice [{"x"}, {}, {}] %k out_sharding=<@mesh, [{"x"}, {}, {}]> : tensor<3x1x1xf32>
  %1 = stablehlo.convolution(%a, %0) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {reverse = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {}]>]>} : (tensor<1x8x1xf32>, tensor<3x1x1xf32>) -> tensor<1x6x1xf32>
  return %1 : tensor<1x6x1xf32>
}

// CHECK-LABEL: func.func @fewer_windows_at_end
// CHECK: stablehlo.convolution({{.*}}window = {pad = {{\[\[}}0, 1]]} {{.*}} : (tensor<1x8x1xf32>, tensor<4x1x1xf32>) -> tensor<1x6x1xf32>
func.func @fewer_windows_at_end(%a: tensor<1x8x1xf32>, %k: tensor<3x1x1xf32>) -> tensor<1x6x1xf32> {
  %0 = sdy.all_slice [{"x"}, {}, {}] %k out_sharding=<@mesh, [{"x"}, {}, {}]> : tensor<3x1x1xf32>
  %1 = stablehlo.convolution(%a, %0) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {}]>]>} : (tensor<1x8x1xf32>, tensor<3x1x1xf32>) -> tensor<1x6x1xf32>
  return %1 : tensor<1x6x1xf32>
}

// The padded image of 8 elements would give 8 results. The result of 5 elements is sharded, so it must have its padded
// size, 6: negative padding cuts the image.
// CHECK-LABEL: func.func @sharded_result
// CHECK: stablehlo.convolution({{.*}}window = {pad = {{\[\[}}0, -2]]} {{.*}} : (tensor<1x8x1xf32>, tensor<1x1x1xf32>) -> tensor<1x6x1xf32>
func.func @sharded_result(%a: tensor<1x5x1xf32>, %k: tensor<1x1x1xf32>) -> tensor<1x5x1xf32> {
  %0 = sdy.all_slice [{}, {"x"}, {}] %a out_sharding=<@mesh, [{}, {"x"}, {}]> : tensor<1x5x1xf32>
  %1 = stablehlo.convolution(%0, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}, {}]>]>} : (tensor<1x5x1xf32>, tensor<1x1x1xf32>) -> tensor<1x5x1xf32>
  %2 = sdy.all_gather [{}, {"y"}, {}] %1 out_sharding=<@mesh, [{}, {}, {}]> : tensor<1x5x1xf32>
  return %2 : tensor<1x5x1xf32>
}
