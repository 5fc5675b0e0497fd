// RUN: sdy-opt %s -sdy-resolve-permutation-factors | filecheck %s

// Each device receives the elements of other shards that it reads: its halos.

sdy.mesh @mesh = <["x"=4]>
sdy.mesh @permuted = <["x"=2], device_ids=[1, 0]>

// A slice from element 3 on: three elements of the next shard, over one hop.
// CHECK-LABEL: func.func @one_hop(%arg0: tensor<16xf32>{{.*}}) -> (tensor<12xf32>{{.*}})
// CHECK-NEXT: %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<4xf32>) {
// CHECK-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %1 = stablehlo.slice %arg1 [0:2] : (tensor<4xf32>) -> tensor<2xf32>
// CHECK-NEXT: %2 = "stablehlo.collective_permute"(%1) <{channel_handle = #stablehlo.channel_handle<handle = {{[0-9]+}}, type = 1>, source_target_pairs = dense<{{\[\[}}1, 0], [2, 1]]> : tensor<2x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT: %3 = stablehlo.concatenate %arg1, %2, dim = 0 : (tensor<4xf32>, tensor<2xf32>) -> tensor<6xf32>
// CHECK-NEXT: %4 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %5 = stablehlo.convert %4 : (tensor<ui32>) -> tensor<i64>
// CHECK-NEXT: %c = stablehlo.constant dense<-1> : tensor<i64>
// CHECK-NEXT: %6 = stablehlo.multiply %5, %c : tensor<i64>
// CHECK-NEXT: %c_0 = stablehlo.constant dense<3> : tensor<i64>
// CHECK-NEXT: %7 = stablehlo.add %6, %c_0 : tensor<i64>
// CHECK-NEXT: %c_1 = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT: %8 = stablehlo.dynamic_slice %3, %7, sizes = [3] : (tensor<6xf32>, tensor<i64>) -> tensor<3xf32>
// CHECK-NEXT: sdy.return %8 : tensor<3xf32>
// CHECK-NEXT: } : (tensor<16xf32>) -> tensor<12xf32>
// CHECK-NEXT: return %0 : tensor<12xf32>
func.func @one_hop(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.slice %a [3:15] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<16xf32>) -> tensor<12xf32>
  return %0 : tensor<12xf32>
}

// Padding moves elements to the next shard and to the one after it. The first two devices have only padding.
// CHECK-LABEL: func.func @two_hops(%arg0: tensor<8xf32>{{.*}}, %arg1: tensor<f32>) -> (tensor<16xf32>{{.*}})
// CHECK-NEXT: %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}]>, <@mesh, []>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg2: tensor<2xf32>, %arg3: tensor<f32>) {
// CHECK-NEXT: %1 = "stablehlo.collective_permute"(%arg2) <{channel_handle = #stablehlo.channel_handle<handle = {{[0-9]+}}, type = 1>, source_target_pairs = dense<{{\[\[}}0, 2]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT: %2 = "stablehlo.collective_permute"(%arg2) <{channel_handle = #stablehlo.channel_handle<handle = {{[0-9]+}}, type = 1>, source_target_pairs = dense<{{\[\[}}1, 2], [2, 3]]> : tensor<2x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT: %3 = stablehlo.concatenate %1, %2, %arg2, dim = 0 : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<6xf32>
// CHECK-NEXT: %4 = stablehlo.pad %3, %arg3, low = [0], high = [4], interior = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<10xf32>
// CHECK-NEXT: %5 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %6 = stablehlo.convert %5 : (tensor<ui32>) -> tensor<i64>
// CHECK-NEXT: %c = stablehlo.constant dense<[6, 6, 0, 2]> : tensor<4xi64>
// CHECK-NEXT: %7 = stablehlo.dynamic_slice %c, %6, sizes = [1] : (tensor<4xi64>, tensor<i64>) -> tensor<1xi64>
// CHECK-NEXT: %8 = stablehlo.reshape %7 : (tensor<1xi64>) -> tensor<i64>
// CHECK-NEXT: %c_0 = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT: %9 = stablehlo.dynamic_slice %4, %8, sizes = [4] : (tensor<10xf32>, tensor<i64>) -> tensor<4xf32>
// CHECK-NEXT: sdy.return %9 : tensor<4xf32>
// CHECK-NEXT: } : (tensor<8xf32>, tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: return %0 : tensor<16xf32>
func.func @two_hops(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %v: tensor<f32>) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.pad %a, %v, low = [8], high = [0], interior = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>, tensor<f32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// The first device needs padding before its elements, where it would receive zeros: they are overwritten.
// CHECK-LABEL: func.func @padding(%arg0: tensor<16xf32>{{.*}}, %arg1: tensor<f32>) -> (tensor<20xf32>{{.*}})
// CHECK-NEXT: %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}]>, <@mesh, []>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg2: tensor<4xf32>, %arg3: tensor<f32>) {
// CHECK-NEXT: %1 = stablehlo.slice %arg2 [2:4] : (tensor<4xf32>) -> tensor<2xf32>
// CHECK-NEXT: %2 = "stablehlo.collective_permute"(%1) <{channel_handle = #stablehlo.channel_handle<handle = {{[0-9]+}}, type = 1>, source_target_pairs = dense<{{\[\[}}0, 1], [1, 2]]> : tensor<2x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT: %3 = stablehlo.concatenate %2, %arg2, dim = 0 : (tensor<2xf32>, tensor<4xf32>) -> tensor<6xf32>
// CHECK-NEXT: %4 = stablehlo.pad %3, %arg3, low = [1], high = [1], interior = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %5 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %6 = stablehlo.convert %5 : (tensor<ui32>) -> tensor<i64>
// CHECK-NEXT: %c = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT: %7 = stablehlo.dynamic_slice %4, %6, sizes = [5] : (tensor<8xf32>, tensor<i64>) -> tensor<5xf32>
// CHECK-NEXT: %c_0 = stablehlo.constant dense<5> : tensor<i64>
// CHECK-NEXT: %8 = stablehlo.multiply %6, %c_0 : tensor<i64>
// CHECK-NEXT: %c_1 = stablehlo.constant dense<-3> : tensor<i64>
// CHECK-NEXT: %9 = stablehlo.add %8, %c_1 : tensor<i64>
// CHECK-NEXT: %10 = stablehlo.iota dim = 0 : tensor<5xi64>
// CHECK-NEXT: %11 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<i64>) -> tensor<5xi64>
// CHECK-NEXT: %12 = stablehlo.add %10, %11 : tensor<5xi64>
// CHECK-NEXT: %c_2 = stablehlo.constant dense<0> : tensor<5xi64>
// CHECK-NEXT: %13 = stablehlo.compare GE, %12, %c_2 : (tensor<5xi64>, tensor<5xi64>) -> tensor<5xi1>
// CHECK-NEXT: %c_3 = stablehlo.constant dense<16> : tensor<5xi64>
// CHECK-NEXT: %14 = stablehlo.compare LT, %12, %c_3 : (tensor<5xi64>, tensor<5xi64>) -> tensor<5xi1>
// CHECK-NEXT: %15 = stablehlo.and %13, %14 : tensor<5xi1>
// CHECK-NEXT: %16 = stablehlo.broadcast_in_dim %15, dims = [0] : (tensor<5xi1>) -> tensor<5xi1>
// CHECK-NEXT: %17 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f32>) -> tensor<5xf32>
// CHECK-NEXT: %18 = stablehlo.select %16, %7, %17 : tensor<5xi1>, tensor<5xf32>
// CHECK-NEXT: sdy.return %18 : tensor<5xf32>
// CHECK-NEXT: } : (tensor<16xf32>, tensor<f32>) -> tensor<20xf32>
// CHECK-NEXT: return %0 : tensor<20xf32>
func.func @padding(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %v: tensor<f32>) -> (tensor<20xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.pad %a, %v, low = [3], high = [1], interior = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<16xf32>, tensor<f32>) -> tensor<20xf32>
  return %0 : tensor<20xf32>
}

// What is needed is in one shard: only this is sent.
// CHECK-LABEL: func.func @one_element(%arg0: tensor<8xf32>{{.*}}) -> tensor<1xf32>
// CHECK-NEXT: %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<2xf32>) {
// CHECK-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %3 = stablehlo.slice %arg1 [1:2] : (tensor<2xf32>) -> tensor<1xf32>
// CHECK-NEXT: %4 = "stablehlo.collective_permute"(%3) <{channel_handle = #stablehlo.channel_handle<handle = {{[0-9]+}}, type = 1>, source_target_pairs = dense<{{\[\[}}2, 0]]> : tensor<1x2xi64>}> : (tensor<1xf32>) -> tensor<1xf32>
// CHECK-NEXT: sdy.return %4 : tensor<1xf32>
// CHECK-NEXT: } : (tensor<8xf32>) -> tensor<4xf32>
// CHECK-NEXT: %1 = stablehlo.slice %0 [0:1]{{.*}} : (tensor<4xf32>) -> tensor<1xf32>
// CHECK-NEXT: %2 = sdy.reshard %1 <@mesh, [{}]> : tensor<1xf32>
// CHECK-NEXT: return %2 : tensor<1xf32>
func.func @one_element(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<1xf32> {
  %0 = stablehlo.slice %a [5:6] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>) -> tensor<1xf32>
  %1 = sdy.reshard %0 <@mesh, [{}]> : tensor<1xf32>
  return %1 : tensor<1xf32>
}

// The halo would be the whole rest of the tensor, the shard of the other device, so the operand is gathered.
// CHECK-LABEL: func.func @gathered(%arg0: tensor<4xf32>{{.*}}, %arg1: tensor<f32>) -> (tensor<8xf32>{{.*}})
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@permuted, [{}]> : tensor<4xf32>
// CHECK-NEXT: %1 = stablehlo.pad %0, %arg1, low = [4], high = [0], interior = [0]{{.*}} : (tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %2 = sdy.reshard %1 <@permuted, [{"x"}]> : tensor<8xf32>
// CHECK-NEXT: return %2 : tensor<8xf32>
func.func @gathered(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@permuted, [{"x"}]>}, %v: tensor<f32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@permuted, [{"x"}]>}) {
  %0 = stablehlo.pad %a, %v, low = [4], high = [0], interior = [0] {sdy.sharding = #sdy.sharding_per_value<[<@permuted, [{"x"}]>]>} : (tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Seven elements reversed on two devices: the padding of the last shard is then before the first element,
// so each shard of the result has parts of two shards. The index of a shard is looked up, as device 0 is the
// second of this mesh.
// CHECK-LABEL: func.func @reverse_uneven(%arg0: tensor<8xf32>{{.*}}) -> (tensor<8xf32>{{.*}})
// CHECK-NEXT: %cst = stablehlo.constant dense<7.000000e+00> : tensor<f32>
// CHECK-NEXT: %0 = stablehlo.slice %arg0 [0:7]{{.*}} : (tensor<8xf32>) -> tensor<7xf32>
// CHECK-NEXT: %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %1 = stablehlo.pad %0, %cst_0, low = [0], high = [1], interior = [0]{{.*}} : (tensor<7xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %2 = sdy.manual_computation(%1) in_shardings=[<@permuted, [{"x"}]>] out_shardings=[<@permuted, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<4xf32>) {
// CHECK-NEXT: %6 = stablehlo.slice %arg1 [3:4] : (tensor<4xf32>) -> tensor<1xf32>
// CHECK-NEXT: %7 = "stablehlo.collective_permute"(%6) <{channel_handle = #stablehlo.channel_handle<handle = {{[0-9]+}}, type = 1>, source_target_pairs = dense<1> : tensor<1x2xi64>}> : (tensor<1xf32>) -> tensor<1xf32>
// CHECK-NEXT: %8 = stablehlo.slice %arg1 [0:3] : (tensor<4xf32>) -> tensor<3xf32>
// CHECK-NEXT: %9 = "stablehlo.collective_permute"(%8) <{channel_handle = #stablehlo.channel_handle<handle = {{[0-9]+}}, type = 1>, source_target_pairs = dense<{{\[\[}}0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT: %10 = stablehlo.concatenate %7, %9, dim = 0 : (tensor<1xf32>, tensor<3xf32>) -> tensor<4xf32>
// CHECK-NEXT: %11 = stablehlo.reverse %10, dims = [0] : tensor<4xf32>
// CHECK-NEXT: sdy.return %11 : tensor<4xf32>
// CHECK-NEXT: } : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %3 = stablehlo.slice %2 [0:7]{{.*}} : (tensor<8xf32>) -> tensor<7xf32>
// CHECK-NEXT: %4 = stablehlo.pad %3, %cst, low = [0], high = [1], interior = [0]{{.*}} : (tensor<7xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %5 = sdy.manual_computation(%4, %cst) in_shardings=[<@permuted, [{"x"}]>, <@permuted, []>] out_shardings=[<@permuted, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<4xf32>, %arg2: tensor<f32>) {
// CHECK-NEXT: %6 = stablehlo.slice %arg1 [3:4] : (tensor<4xf32>) -> tensor<1xf32>
// CHECK-NEXT: %7 = "stablehlo.collective_permute"(%6) <{channel_handle = #stablehlo.channel_handle<handle = {{[0-9]+}}, type = 1>, source_target_pairs = dense<{{\[\[}}1, 0]]> : tensor<1x2xi64>}> : (tensor<1xf32>) -> tensor<1xf32>
// CHECK-NEXT: %8 = stablehlo.slice %arg1 [0:3] : (tensor<4xf32>) -> tensor<3xf32>
// CHECK-NEXT: %9 = stablehlo.concatenate %7, %8, dim = 0 : (tensor<1xf32>, tensor<3xf32>) -> tensor<4xf32>
// CHECK-NEXT: %10 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %11 = stablehlo.convert %10 : (tensor<ui32>) -> tensor<i64>
// CHECK-NEXT: %c = stablehlo.constant dense<[1, 0]> : tensor<2xi64>
// CHECK-NEXT: %12 = stablehlo.dynamic_slice %c, %11, sizes = [1] : (tensor<2xi64>, tensor<i64>) -> tensor<1xi64>
// CHECK-NEXT: %13 = stablehlo.reshape %12 : (tensor<1xi64>) -> tensor<i64>
// CHECK-NEXT: %c_1 = stablehlo.constant dense<4> : tensor<i64>
// CHECK-NEXT: %14 = stablehlo.multiply %13, %c_1 : tensor<i64>
// CHECK-NEXT: %c_2 = stablehlo.constant dense<-1> : tensor<i64>
// CHECK-NEXT: %15 = stablehlo.add %14, %c_2 : tensor<i64>
// CHECK-NEXT: %16 = stablehlo.iota dim = 0 : tensor<4xi64>
// CHECK-NEXT: %17 = stablehlo.broadcast_in_dim %15, dims = [] : (tensor<i64>) -> tensor<4xi64>
// CHECK-NEXT: %18 = stablehlo.add %16, %17 : tensor<4xi64>
// CHECK-NEXT: %c_3 = stablehlo.constant dense<0> : tensor<4xi64>
// CHECK-NEXT: %19 = stablehlo.compare GE, %18, %c_3 : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
// CHECK-NEXT: %c_4 = stablehlo.constant dense<7> : tensor<4xi64>
// CHECK-NEXT: %20 = stablehlo.compare LT, %18, %c_4 : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
// CHECK-NEXT: %21 = stablehlo.and %19, %20 : tensor<4xi1>
// CHECK-NEXT: %22 = stablehlo.broadcast_in_dim %21, dims = [0] : (tensor<4xi1>) -> tensor<4xi1>
// CHECK-NEXT: %23 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT: %24 = stablehlo.select %22, %9, %23 : tensor<4xi1>, tensor<4xf32>
// CHECK-NEXT: sdy.return %24 : tensor<4xf32>
// CHECK-NEXT: } : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: return %5 : tensor<8xf32>
func.func @reverse_uneven(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@permuted, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@permuted, [{"x"}]>}) {
  %v = stablehlo.constant dense<7.0> : tensor<f32>
  %0 = stablehlo.slice %a [0:7] {sdy.sharding = #sdy.sharding_per_value<[<@permuted, [{"x"}]>]>} : (tensor<8xf32>) -> tensor<7xf32>
  %1 = stablehlo.reverse %0, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@permuted, [{"x"}]>]>} : tensor<7xf32>
  %2 = stablehlo.pad %1, %v, low = [1], high = [0], interior = [0] {sdy.sharding = #sdy.sharding_per_value<[<@permuted, [{"x"}]>]>} : (tensor<7xf32>, tensor<f32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// The weight gradient of a convolution: image and kernel are sharded, and the results are partial sums.
// CHECK-LABEL: func.func @weight_gradient(%arg0: tensor<1x16x1xf32>{{.*}}, %arg1: tensor<1x16x1xf32>{{.*}}) -> tensor<3x1x1xf32>
// CHECK-NEXT: %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{}, {"x"}, {}]>, <@mesh, [{}, {"x"}, {}]>] out_shardings=[<@mesh, [{}, {}, {}]>] manual_axes={"x"} (%arg2: tensor<1x4x1xf32>, %arg3: tensor<1x4x1xf32>) {
// CHECK-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %2 = stablehlo.slice %arg2 [0:1, 3:4, 0:1] : (tensor<1x4x1xf32>) -> tensor<1x1x1xf32>
// CHECK-NEXT: %3 = "stablehlo.collective_permute"(%2) <{channel_handle = #stablehlo.channel_handle<handle = {{[0-9]+}}, type = 1>, source_target_pairs = dense<{{\[\[}}0, 1], [1, 2], [2, 3]]> : tensor<3x2xi64>}> : (tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
// CHECK-NEXT: %4 = stablehlo.slice %arg2 [0:1, 0:1, 0:1] : (tensor<1x4x1xf32>) -> tensor<1x1x1xf32>
// CHECK-NEXT: %5 = "stablehlo.collective_permute"(%4) <{channel_handle = #stablehlo.channel_handle<handle = {{[0-9]+}}, type = 1>, source_target_pairs = dense<{{\[\[}}1, 0], [2, 1], [3, 2]]> : tensor<3x2xi64>}> : (tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
// CHECK-NEXT: %6 = stablehlo.concatenate %3, %arg2, %5, dim = 1 : (tensor<1x1x1xf32>, tensor<1x4x1xf32>, tensor<1x1x1xf32>) -> tensor<1x6x1xf32>
// CHECK-NEXT: %7 = stablehlo.convolution(%6, %arg3) dim_numbers = [f, 0, b]x[i, 0, o]->[0, b, f], window = {pad = {{\[\[}}0, 0]], lhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x6x1xf32>, tensor<1x4x1xf32>) -> tensor<3x1x1xf32>
// CHECK-NEXT: sdy.return %7 : tensor<3x1x1xf32>
// CHECK-NEXT: } : (tensor<1x16x1xf32>, tensor<1x16x1xf32>) -> tensor<3x1x1xf32>
// CHECK-NEXT: %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}, {}]> : tensor<3x1x1xf32>
// CHECK-NEXT: return %1 : tensor<3x1x1xf32>
func.func @weight_gradient(%a: tensor<1x16x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %k: tensor<1x16x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) -> tensor<3x1x1xf32> {
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [f, 0, b]x[i, 0, o]->[0, b, f], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x1xf32>, tensor<1x16x1xf32>) -> tensor<3x1x1xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}, {}]> : tensor<3x1x1xf32>
  return %1 : tensor<3x1x1xf32>
}

// -sdy-insert-explicit-reshards gathers the operands of a concatenation, and slices its result. Each device receives
// only the elements in its shard of the result instead.
// CHECK-LABEL: func.func @concatenate(%arg0: tensor<16xf32>{{.*}}, %arg1: tensor<8xf32>{{.*}}) -> (tensor<24xf32>{{.*}})
// CHECK-NEXT: %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg2: tensor<4xf32>, %arg3: tensor<2xf32>) {
// CHECK-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %1 = "stablehlo.collective_permute"(%arg2) <{channel_handle = #stablehlo.channel_handle<handle = {{[0-9]+}}, type = 1>, source_target_pairs = dense<{{\[\[}}1, 0], [2, 1], [3, 2]]> : tensor<3x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %2 = stablehlo.concatenate %arg2, %1, dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
// CHECK-NEXT: %3 = stablehlo.pad %2, %cst, low = [0], high = [2], interior = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<10xf32>
// CHECK-NEXT: %4 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %5 = stablehlo.convert %4 : (tensor<ui32>) -> tensor<i64>
// CHECK-NEXT: %c = stablehlo.constant dense<2> : tensor<i64>
// CHECK-NEXT: %6 = stablehlo.multiply %5, %c : tensor<i64>
// CHECK-NEXT: %c_0 = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT: %7 = stablehlo.dynamic_slice %3, %6, sizes = [6] : (tensor<10xf32>, tensor<i64>) -> tensor<6xf32>
// CHECK-NEXT: %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %8 = "stablehlo.collective_permute"(%arg3) <{channel_handle = #stablehlo.channel_handle<handle = {{[0-9]+}}, type = 1>, source_target_pairs = dense<{{\[\[}}0, 2], [1, 3]]> : tensor<2x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT: %9 = "stablehlo.collective_permute"(%arg3) <{channel_handle = #stablehlo.channel_handle<handle = {{[0-9]+}}, type = 1>, source_target_pairs = dense<{{\[\[}}2, 3]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT: %10 = stablehlo.concatenate %8, %9, %arg3, dim = 0 : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<6xf32>
// CHECK-NEXT: %11 = stablehlo.pad %10, %cst_1, low = [4], high = [0], interior = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<10xf32>
// CHECK-NEXT: %c_2 = stablehlo.constant dense<4> : tensor<i64>
// CHECK-NEXT: %12 = stablehlo.multiply %5, %c_2 : tensor<i64>
// CHECK-NEXT: %c_3 = stablehlo.constant dense<-8> : tensor<i64>
// CHECK-NEXT: %13 = stablehlo.add %12, %c_3 : tensor<i64>
// CHECK-NEXT: %c_4 = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT: %14 = stablehlo.dynamic_slice %11, %13, sizes = [6] : (tensor<10xf32>, tensor<i64>) -> tensor<6xf32>
// CHECK-NEXT: %c_5 = stablehlo.constant dense<6> : tensor<i64>
// CHECK-NEXT: %15 = stablehlo.multiply %5, %c_5 : tensor<i64>
// CHECK-NEXT: %16 = stablehlo.iota dim = 0 : tensor<6xi64>
// CHECK-NEXT: %17 = stablehlo.broadcast_in_dim %15, dims = [] : (tensor<i64>) -> tensor<6xi64>
// CHECK-NEXT: %18 = stablehlo.add %16, %17 : tensor<6xi64>
// CHECK-NEXT: %c_6 = stablehlo.constant dense<16> : tensor<6xi64>
// CHECK-NEXT: %19 = stablehlo.compare LT, %18, %c_6 : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi1>
// CHECK-NEXT: %20 = stablehlo.broadcast_in_dim %19, dims = [0] : (tensor<6xi1>) -> tensor<6xi1>
// CHECK-NEXT: %21 = stablehlo.select %20, %7, %14 : tensor<6xi1>, tensor<6xf32>
// CHECK-NEXT: sdy.return %21 : tensor<6xf32>
// CHECK-NEXT: } : (tensor<16xf32>, tensor<8xf32>) -> tensor<24xf32>
// CHECK-NEXT: return %0 : tensor<24xf32>
func.func @concatenate(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = sdy.reshard %a <@mesh, [{}]> : tensor<16xf32>
  %1 = sdy.reshard %b <@mesh, [{}]> : tensor<8xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<16xf32>, tensor<8xf32>) -> tensor<24xf32>
  %3 = sdy.reshard %2 <@mesh, [{"x"}]> : tensor<24xf32>
  return %3 : tensor<24xf32>
}

// Windows of three with a stride of two: the last window of each shard reaches into the next one. There it is
// computed as well, so its elements and its source are received. The last device computes the window before its
// own ones too, so that its last window ends with the padding of the operation, which is never selected.
// CHECK-LABEL: func.func @select_and_scatter(%arg0: tensor<16xf32>{{.*}}, %arg1: tensor<8xf32>{{.*}}, %arg2: tensor<f32>) -> (tensor<16xf32>{{.*}})
// CHECK-NEXT: %0 = sdy.manual_computation(%arg0, %arg1, %arg2) in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>, <@mesh, []>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg3: tensor<4xf32>, %arg4: tensor<2xf32>, %arg5: tensor<f32>) {
// CHECK-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %1 = stablehlo.slice %arg3 [2:4] : (tensor<4xf32>) -> tensor<2xf32>
// CHECK-NEXT: %2 = "stablehlo.collective_permute"(%1) <{channel_handle = #stablehlo.channel_handle<handle = {{[0-9]+}}, type = 1>, source_target_pairs = dense<{{\[\[}}0, 1], [1, 2], [2, 3]]> : tensor<3x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT: %3 = stablehlo.slice %arg3 [0:1] : (tensor<4xf32>) -> tensor<1xf32>
// CHECK-NEXT: %4 = "stablehlo.collective_permute"(%3) <{channel_handle = #stablehlo.channel_handle<handle = {{[0-9]+}}, type = 1>, source_target_pairs = dense<{{\[\[}}1, 0], [2, 1], [3, 2]]> : tensor<3x2xi64>}> : (tensor<1xf32>) -> tensor<1xf32>
// CHECK-NEXT: %5 = stablehlo.concatenate %2, %arg3, %4, dim = 0 : (tensor<2xf32>, tensor<4xf32>, tensor<1xf32>) -> tensor<7xf32>
// CHECK-NEXT: %6 = stablehlo.pad %5, %cst, low = [2], high = [1], interior = [0] : (tensor<7xf32>, tensor<f32>) -> tensor<10xf32>
// CHECK-NEXT: %7 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %8 = stablehlo.convert %7 : (tensor<ui32>) -> tensor<i64>
// CHECK-NEXT: %c = stablehlo.constant dense<[2, 2, 2, 0]> : tensor<4xi64>
// CHECK-NEXT: %9 = stablehlo.dynamic_slice %c, %8, sizes = [1] : (tensor<4xi64>, tensor<i64>) -> tensor<1xi64>
// CHECK-NEXT: %10 = stablehlo.reshape %9 : (tensor<1xi64>) -> tensor<i64>
// CHECK-NEXT: %c_0 = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT: %11 = stablehlo.dynamic_slice %6, %10, sizes = [8] : (tensor<10xf32>, tensor<i64>) -> tensor<8xf32>
// CHECK-NEXT: %12 = stablehlo.slice %arg4 [1:2] : (tensor<2xf32>) -> tensor<1xf32>
// CHECK-NEXT: %13 = "stablehlo.collective_permute"(%12) <{channel_handle = #stablehlo.channel_handle<handle = {{[0-9]+}}, type = 1>, source_target_pairs = dense<{{\[\[}}0, 1], [1, 2], [2, 3]]> : tensor<3x2xi64>}> : (tensor<1xf32>) -> tensor<1xf32>
// CHECK-NEXT: %14 = stablehlo.concatenate %13, %arg4, dim = 0 : (tensor<1xf32>, tensor<2xf32>) -> tensor<3xf32>
// CHECK-NEXT: %15 = stablehlo.pad %14, %cst, low = [1], high = [1], interior = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<5xf32>
// CHECK-NEXT: %c_1 = stablehlo.constant dense<[1, 1, 1, 0]> : tensor<4xi64>
// CHECK-NEXT: %16 = stablehlo.dynamic_slice %c_1, %8, sizes = [1] : (tensor<4xi64>, tensor<i64>) -> tensor<1xi64>
// CHECK-NEXT: %17 = stablehlo.reshape %16 : (tensor<1xi64>) -> tensor<i64>
// CHECK-NEXT: %c_2 = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT: %18 = stablehlo.dynamic_slice %15, %17, sizes = [4] : (tensor<5xf32>, tensor<i64>) -> tensor<4xf32>
// CHECK-NEXT: %19 = "stablehlo.select_and_scatter"(%11, %18, %arg5) <{padding = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>, window_dimensions = array<i64: 3>, window_strides = array<i64: 2>}> ({
// CHECK-NEXT: ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
// CHECK-NEXT: %23 = stablehlo.compare GE, %arg6, %arg7 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: stablehlo.return %23 : tensor<i1>
// CHECK-NEXT: }, {
// CHECK-NEXT: ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
// CHECK-NEXT: %23 = stablehlo.add %arg6, %arg7 : tensor<f32>
// CHECK-NEXT: stablehlo.return %23 : tensor<f32>
// CHECK-NEXT: }) : (tensor<8xf32>, tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %c_3 = stablehlo.constant dense<[2, 2, 2, 4]> : tensor<4xi64>
// CHECK-NEXT: %20 = stablehlo.dynamic_slice %c_3, %8, sizes = [1] : (tensor<4xi64>, tensor<i64>) -> tensor<1xi64>
// CHECK-NEXT: %21 = stablehlo.reshape %20 : (tensor<1xi64>) -> tensor<i64>
// CHECK-NEXT: %c_4 = stablehlo.constant dense<0> : tensor<i64>
// CHECK-NEXT: %22 = stablehlo.dynamic_slice %19, %21, sizes = [4] : (tensor<8xf32>, tensor<i64>) -> tensor<4xf32>
// CHECK-NEXT: sdy.return %22 : tensor<4xf32>
// CHECK-NEXT: } : (tensor<16xf32>, tensor<8xf32>, tensor<f32>) -> tensor<16xf32>
// CHECK-NEXT: return %0 : tensor<16xf32>
func.func @select_and_scatter(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %s: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %i: tensor<f32>) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = sdy.reshard %s <@mesh, [{}]> : tensor<8xf32>
  %1 = "stablehlo.select_and_scatter"(%a, %0, %i) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, padding = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %2 = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }, {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %2 = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<16xf32>, tensor<8xf32>, tensor<f32>) -> tensor<16xf32>
  return %1 : tensor<16xf32>
}
