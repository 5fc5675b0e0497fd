// RUN: sdy-opt %s -sdy-resolve-permutation-factors | filecheck %s

// A reshape of shards whose sizes differ before and after: each device gets the elements that it lacks.

sdy.mesh @mesh = <["x"=4]>

// Shards of 3 elements become shards of 2 x 2: the first device needs one element of the second one.
// CHECK-LABEL: func.func @split(%arg0: tensor<12xf32>{{.*}}) -> (tensor<8x2xf32>{{.*}})
// CHECK-NEXT: %0 = stablehlo.slice %arg0 [0:10] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<12xf32>) -> tensor<10xf32>
// CHECK-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %1 = stablehlo.pad %0, %cst, low = [0], high = [2], interior = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<10xf32>, tensor<f32>) -> tensor<12xf32>
// CHECK-NEXT: %2 = sdy.manual_computation(%1) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg1: tensor<3xf32>) {
// CHECK-NEXT: %6 = stablehlo.reshape %arg1 : (tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT: %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %7 = stablehlo.slice %6 [0:2] : (tensor<3xf32>) -> tensor<2xf32>
// CHECK-NEXT: %8 = "stablehlo.collective_permute"(%7) <{channel_handle = #stablehlo.channel_handle<handle = {{[0-9]+}}, type = 1>, source_target_pairs = dense<{{\[\[}}1, 0], [2, 1], [3, 2]]> : tensor<3x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT: %9 = stablehlo.concatenate %6, %8, dim = 0 : (tensor<3xf32>, tensor<2xf32>) -> tensor<5xf32>
// CHECK-NEXT: %10 = stablehlo.pad %9, %cst_1, low = [0], high = [1], interior = [0] : (tensor<5xf32>, tensor<f32>) -> tensor<6xf32>
// CHECK-NEXT: %11 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %12 = stablehlo.convert %11 : (tensor<ui32>) -> tensor<i64>
// CHECK-NEXT: %c = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT: %13 = stablehlo.dynamic_slice %10, %12, sizes = [4] : (tensor<6xf32>, tensor<i64>) -> tensor<4xf32>
// CHECK-NEXT: %14 = stablehlo.reshape %13 : (tensor<4xf32>) -> tensor<2x2xf32>
// CHECK-NEXT: sdy.return %14 : tensor<2x2xf32>
// CHECK-NEXT: } : (tensor<12xf32>) -> tensor<8x2xf32>
// CHECK-NEXT: %3 = stablehlo.slice %2 [0:5, 0:2] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x2xf32>) -> tensor<5x2xf32>
// CHECK-NEXT: %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %4 = stablehlo.pad %3, %cst_0, low = [0, 0], high = [3, 0], interior = [0, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<5x2xf32>, tensor<f32>) -> tensor<8x2xf32>
// CHECK-NEXT: %5 = sdy.manual_computation(%4, %cst_0) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, []>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg1: tensor<2x2xf32>, %arg2: tensor<f32>) {
// CHECK-NEXT: %6 = stablehlo.pad %arg1, %arg2, low = [0, 0], high = [2, 0], interior = [0, 0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<4x2xf32>
// CHECK-NEXT: %7 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %8 = stablehlo.convert %7 : (tensor<ui32>) -> tensor<i64>
// CHECK-NEXT: %c = stablehlo.constant dense<[0, 0, 0, 2]> : tensor<4xi64>
// CHECK-NEXT: %9 = stablehlo.dynamic_slice %c, %8, sizes = [1] : (tensor<4xi64>, tensor<i64>) -> tensor<1xi64>
// CHECK-NEXT: %10 = stablehlo.reshape %9 : (tensor<1xi64>) -> tensor<i64>
// CHECK-NEXT: %c_1 = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT: %11 = stablehlo.dynamic_slice %6, %10, %c_1, sizes = [2, 2] : (tensor<4x2xf32>, tensor<i64>, tensor<i64>) -> tensor<2x2xf32>
// CHECK-NEXT: sdy.return %11 : tensor<2x2xf32>
// CHECK-NEXT: } : (tensor<8x2xf32>, tensor<f32>) -> tensor<8x2xf32>
// CHECK-NEXT: return %5 : tensor<8x2xf32>
func.func @split(%a: tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.slice %a [0:10] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<12xf32>) -> tensor<10xf32>
  %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<10xf32>) -> tensor<5x2xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.pad %1, %2, low = [0, 0], high = [3, 0], interior = [0, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<5x2xf32>, tensor<f32>) -> tensor<8x2xf32>
  return %3 : tensor<8x2xf32>
}

// Shards of 4 become shards of 2 x 2: they have the same elements.
// CHECK-LABEL: func.func @same_elements(%arg0: tensor<16xf32>{{.*}}) -> (tensor<8x2xf32>{{.*}})
// CHECK-NEXT: %0 = stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<16xf32>) -> tensor<8x2xf32>
// CHECK-NEXT: return %0 : tensor<8x2xf32>
func.func @same_elements(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.reshape %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<16xf32>) -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}

// 6 x 2 elements on four devices are shards of 2 x 2, the last of which is empty, and so are those of 3 x 2 x 2.
// CHECK-LABEL: func.func @same_elements_of_uneven_shards(%arg0: tensor<8x2xi32>{{.*}}) -> tensor<3x2x2xi32>
// CHECK-NEXT: %0 = stablehlo.slice %arg0 [0:6, 0:2] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x2xi32>) -> tensor<6x2xi32>
// CHECK-NEXT: %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>} : (tensor<6x2xi32>) -> tensor<3x2x2xi32>
// CHECK-NEXT: %2 = sdy.reshard %1 <@mesh, [{}, {}, {}]> : tensor<3x2x2xi32>
// CHECK-NEXT: return %2 : tensor<3x2x2xi32>
func.func @same_elements_of_uneven_shards(%a: tensor<8x2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<3x2x2xi32> {
  %0 = stablehlo.slice %a [0:6, 0:2] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x2xi32>) -> tensor<6x2xi32>
  %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>} : (tensor<6x2xi32>) -> tensor<3x2x2xi32>
  %2 = sdy.reshard %1 <@mesh, [{}, {}, {}]> : tensor<3x2x2xi32>
  return %2 : tensor<3x2x2xi32>
}

// The second dimension is sharded after the reshape: no device has consecutive elements.
// CHECK-LABEL: func.func @minor_dimension(%arg0: tensor<16xf32>{{.*}}) -> (tensor<2x8xf32>{{.*}})
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<16xf32>
// CHECK-NEXT: %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<16xf32>) -> tensor<2x8xf32>
// CHECK-NEXT: %2 = sdy.reshard %1 <@mesh, [{}, {"x"}]> : tensor<2x8xf32>
// CHECK-NEXT: return %2 : tensor<2x8xf32>
func.func @minor_dimension(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<2x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = stablehlo.reshape %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<16xf32>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}
