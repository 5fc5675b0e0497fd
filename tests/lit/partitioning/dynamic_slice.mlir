// RUN: sdy-opt %s -sdy-resolve-permutation-factors | filecheck %s

// A slice of a sharded dimension, at a position that is known at run time only: each device takes the elements of
// the slice that it has, and zeros for the others, and the sum is the slice.

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func.func @one_row(%arg0: tensor<16x4xf32>{{.*}}, %arg1: tensor<i32>) -> tensor<1x4xf32>
// CHECK-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// CHECK-NEXT: %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, []>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"x"} (%arg2: tensor<8x4xf32>, %arg3: tensor<i32>) {
// CHECK-NEXT: %c_0 = stablehlo.constant dense<0> : tensor<i32>
// CHECK-NEXT: %c_1 = stablehlo.constant dense<15> : tensor<i32>
// CHECK-NEXT: %1 = stablehlo.clamp %c_0, %arg3, %c_1 : tensor<i32>
// CHECK-NEXT: %2 = stablehlo.convert %1 : (tensor<i32>) -> tensor<i64>
// CHECK-NEXT: %3 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %4 = stablehlo.convert %3 : (tensor<ui32>) -> tensor<i64>
// CHECK-NEXT: %c_2 = stablehlo.constant dense<8> : tensor<i64>
// CHECK-NEXT: %5 = stablehlo.multiply %4, %c_2 : tensor<i64>
// CHECK-NEXT: %6 = stablehlo.subtract %2, %5 : tensor<i64>
// CHECK-NEXT: %c_3 = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT: %c_4 = stablehlo.constant dense<7> : tensor<i64>
// CHECK-NEXT: %7 = stablehlo.clamp %c_3, %6, %c_4 : tensor<i64>
// CHECK-NEXT: %8 = stablehlo.subtract %6, %7 : tensor<i64>
// CHECK-NEXT: %c_5 = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT: %9 = stablehlo.dynamic_slice %arg2, %7, %c_5, sizes = [1, 4] : (tensor<8x4xf32>, tensor<i64>, tensor<i64>) -> tensor<1x4xf32>
// CHECK-NEXT: %c_6 = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT: %cst = stablehlo.constant dense<-0.000000e+00> : tensor<f32>
// CHECK-NEXT: %10 = stablehlo.pad %9, %cst, low = [1, 0], high = [1, 0], interior = [0, 0] : (tensor<1x4xf32>, tensor<f32>) -> tensor<3x4xf32>
// CHECK-NEXT: %c_7 = stablehlo.constant dense<1> : tensor<i64>
// CHECK-NEXT: %11 = stablehlo.add %8, %c_7 : tensor<i64>
// CHECK-NEXT: %c_8 = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT: %c_9 = stablehlo.constant dense<2> : tensor<i64>
// CHECK-NEXT: %12 = stablehlo.clamp %c_8, %11, %c_9 : tensor<i64>
// CHECK-NEXT: %13 = stablehlo.dynamic_slice %10, %12, %c_6, sizes = [1, 4] : (tensor<3x4xf32>, tensor<i64>, tensor<i64>) -> tensor<1x4xf32>
// CHECK-NEXT: %14 = "stablehlo.all_reduce"(%13) <{channel_handle = #stablehlo.channel_handle<handle = {{[0-9]+}}, type = 1>, replica_groups = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
// CHECK-NEXT: ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
// CHECK-NEXT: %15 = stablehlo.add %arg4, %arg5 : tensor<f32>
// CHECK-NEXT: stablehlo.return %15 : tensor<f32>
// CHECK-NEXT: }) : (tensor<1x4xf32>) -> tensor<1x4xf32>
// CHECK-NEXT: sdy.return %14 : tensor<1x4xf32>
// CHECK-NEXT: } : (tensor<16x4xf32>, tensor<i32>) -> tensor<1x4xf32>
// CHECK-NEXT: return %0 : tensor<1x4xf32>
func.func @one_row(%a: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<i32>) -> tensor<1x4xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = sdy.reshard %a <@mesh, [{}, {}]> : tensor<16x4xf32>
  %1 = stablehlo.dynamic_slice %0, %i, %c, sizes = [1, 4] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<16x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
  return %1 : tensor<1x4xf32>
}

// Most of the dimension: an all-reduce would receive more than a gather.
// CHECK-LABEL: func.func @most_rows(%arg0: tensor<16xf32>{{.*}}, %arg1: tensor<i32>) -> tensor<8xf32>
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<16xf32>
// CHECK-NEXT: %1 = stablehlo.dynamic_slice %0, %arg1, sizes = [8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<16xf32>, tensor<i32>) -> tensor<8xf32>
// CHECK-NEXT: return %1 : tensor<8xf32>
func.func @most_rows(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %i: tensor<i32>) -> tensor<8xf32> {
  %0 = sdy.reshard %a <@mesh, [{}]> : tensor<16xf32>
  %1 = stablehlo.dynamic_slice %0, %i, sizes = [8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<16xf32>, tensor<i32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// The first slice alone would be summed, but one gather is enough for both.
// CHECK-LABEL: func.func @two_slices(%arg0: tensor<16xf32>{{.*}}, %arg1: tensor<i32>, %arg2: tensor<i32>) -> (tensor<5xf32>, tensor<8xf32>)
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<16xf32>
// CHECK-NEXT: %1 = stablehlo.dynamic_slice %0, %arg1, sizes = [5] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<16xf32>, tensor<i32>) -> tensor<5xf32>
// CHECK-NEXT: %2 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<16xf32>
// CHECK-NEXT: %3 = stablehlo.dynamic_slice %2, %arg2, sizes = [8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<16xf32>, tensor<i32>) -> tensor<8xf32>
// CHECK-NEXT: return %1, %3 : tensor<5xf32>, tensor<8xf32>
func.func @two_slices(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %i: tensor<i32>, %j: tensor<i32>) -> (tensor<5xf32>, tensor<8xf32>) {
  %0 = sdy.reshard %a <@mesh, [{}]> : tensor<16xf32>
  %1 = stablehlo.dynamic_slice %0, %i, sizes = [5] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<16xf32>, tensor<i32>) -> tensor<5xf32>
  %2 = sdy.reshard %a <@mesh, [{}]> : tensor<16xf32>
  %3 = stablehlo.dynamic_slice %2, %j, sizes = [8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<16xf32>, tensor<i32>) -> tensor<8xf32>
  return %1, %3 : tensor<5xf32>, tensor<8xf32>
}
