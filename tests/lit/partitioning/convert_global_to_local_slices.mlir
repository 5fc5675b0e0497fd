// RUN: sdy-opt %s -sdy-convert-global-to-local | filecheck %s

// Slices, updates, concatenations and padding. Along a sharded dimension no element may move to another shard.

sdy.mesh @mesh = <["x"=2]>

// The slice has the whole sharded dimension, and a part of the other one.
// CHECK-LABEL: func.func @slice(%arg0: tensor<4x16xf32>{{.*}}) -> (tensor<4x4xf32>{{.*}})
// CHECK-NEXT: %0 = stablehlo.slice %arg0 [0:4, 2:10:2] : (tensor<4x16xf32>) -> tensor<4x4xf32>
// CHECK-NEXT: return %0 : tensor<4x4xf32>
func.func @slice(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.slice %a [0:8, 2:10:2] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x16xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// Every second element of a shard of four.
// CHECK-LABEL: func.func @stride(%arg0: tensor<4xf32>{{.*}}) -> (tensor<2xf32>{{.*}})
// CHECK-NEXT: %0 = stablehlo.slice %arg0 [0:4:2] : (tensor<4xf32>) -> tensor<2xf32>
// CHECK-NEXT: return %0 : tensor<2xf32>
func.func @stride(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.slice %a [0:8:2] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// The size of a dynamic slice becomes local. (C++ leaves the global size, which the verifier rejects.)
// CHECK-LABEL: func.func @dynamic_slice(%arg0: tensor<4x16xf32>{{.*}}, %arg1: tensor<i32>) -> (tensor<4x4xf32>{{.*}})
// CHECK-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// CHECK-NEXT: %0 = stablehlo.dynamic_slice %arg0, %c, %arg1, sizes = [4, 4]{{.*}} : (tensor<4x16xf32>, tensor<i32>, tensor<i32>) -> tensor<4x4xf32>
// CHECK-NEXT: return %0 : tensor<4x4xf32>
func.func @dynamic_slice(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<i32>) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.dynamic_slice %a, %zero, %i, sizes = [8, 4] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x16xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// One element of a sharded dimension is updated: other shards write back the element that they have.
// CHECK-LABEL: func.func @update_element(%arg0: tensor<4xf32>{{.*}}, %arg1: tensor<1xf32>, %arg2: tensor<i32>) -> (tensor<4xf32>{{.*}})
// CHECK-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// CHECK-NEXT: %c_0 = stablehlo.constant dense<7> : tensor<i32>
// CHECK-NEXT: %0 = stablehlo.clamp %c, %arg2, %c_0 : tensor<i32>
// CHECK-NEXT: %1 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %c_1 = stablehlo.constant dense<[0, 4]> : tensor<2xi32>
// CHECK-NEXT: %2 = stablehlo.dynamic_slice %c_1, %1, sizes = [1] : (tensor<2xi32>, tensor<ui32>) -> tensor<1xi32>
// CHECK-NEXT: %3 = stablehlo.reshape %2 : (tensor<1xi32>) -> tensor<i32>
// CHECK-NEXT: %4 = stablehlo.convert %3 : tensor<i32>
// CHECK-NEXT: %c_2 = stablehlo.constant dense<1> : tensor<i32>
// CHECK-NEXT: %5 = stablehlo.add %0, %c_2 : tensor<i32>
// CHECK-NEXT: %c_3 = stablehlo.constant dense<4> : tensor<i32>
// CHECK-NEXT: %6 = stablehlo.add %4, %c_3 : tensor<i32>
// CHECK-NEXT: %7 = stablehlo.compare GE, %0, %4 : (tensor<i32>, tensor<i32>) -> tensor<i1>
// CHECK-NEXT: %8 = stablehlo.compare LE, %5, %6 : (tensor<i32>, tensor<i32>) -> tensor<i1>
// CHECK-NEXT: %9 = stablehlo.and %7, %8 : tensor<i1>
// CHECK-NEXT: %10 = stablehlo.subtract %0, %4 : tensor<i32>
// CHECK-NEXT: %11 = stablehlo.select %9, %10, %c : tensor<i1>, tensor<i32>
// CHECK-NEXT: %12 = stablehlo.dynamic_update_slice %arg0, %arg1, %11 : (tensor<4xf32>, tensor<1xf32>, tensor<i32>) -> tensor<4xf32>
// CHECK-NEXT: %13 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<i1>) -> tensor<4xi1>
// CHECK-NEXT: %14 = stablehlo.select %13, %12, %arg0 : tensor<4xi1>, tensor<4xf32>
// CHECK-NEXT: return %14 : tensor<4xf32>
func.func @update_element(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %u: tensor<1xf32>, %i: tensor<i32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.dynamic_update_slice %a, %u, %i {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>, tensor<1xf32>, tensor<i32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A range may be in two shards. Each device pads its shard, updates it, and cuts the padding, which has got the elements
// of the other shard.
// CHECK-LABEL: func.func @update_range(%arg0: tensor<4xf32>{{.*}}, %arg1: tensor<3xf32>, %arg2: tensor<i32>) -> (tensor<4xf32>{{.*}})
// CHECK-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// CHECK-NEXT: %c_0 = stablehlo.constant dense<5> : tensor<i32>
// CHECK-NEXT: %0 = stablehlo.clamp %c, %arg2, %c_0 : tensor<i32>
// CHECK-NEXT: %1 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %c_1 = stablehlo.constant dense<[0, 4]> : tensor<2xi32>
// CHECK-NEXT: %2 = stablehlo.dynamic_slice %c_1, %1, sizes = [1] : (tensor<2xi32>, tensor<ui32>) -> tensor<1xi32>
// CHECK-NEXT: %3 = stablehlo.reshape %2 : (tensor<1xi32>) -> tensor<i32>
// CHECK-NEXT: %4 = stablehlo.convert %3 : tensor<i32>
// CHECK-NEXT: %5 = stablehlo.subtract %0, %4 : tensor<i32>
// CHECK-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %6 = stablehlo.pad %arg0, %cst, low = [3], high = [3], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<10xf32>
// CHECK-NEXT: %c_2 = stablehlo.constant dense<3> : tensor<i32>
// CHECK-NEXT: %7 = stablehlo.add %5, %c_2 : tensor<i32>
// CHECK-NEXT: %8 = stablehlo.dynamic_update_slice %6, %arg1, %7 : (tensor<10xf32>, tensor<3xf32>, tensor<i32>) -> tensor<10xf32>
// CHECK-NEXT: %9 = stablehlo.slice %8 [3:7] : (tensor<10xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %9 : tensor<4xf32>
func.func @update_range(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %u: tensor<3xf32>, %i: tensor<i32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.dynamic_update_slice %a, %u, %i {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>, tensor<3xf32>, tensor<i32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @concatenate(%arg0: tensor<4x16xf32>{{.*}}) -> (tensor<4x32xf32>{{.*}})
// CHECK-NEXT: %0 = stablehlo.concatenate %arg0, %arg0, dim = 1{{.*}} : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x32xf32>
// CHECK-NEXT: return %0 : tensor<4x32xf32>
func.func @concatenate(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.concatenate %a, %a, dim = 1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}

// Padding may be the same in all shards: here one before each of the elements 0 to 3, and of the elements 4 to 7.
// CHECK-LABEL: func.func @pad(%arg0: tensor<4xf32>{{.*}}, %arg1: tensor<f32>) -> (tensor<8xf32>{{.*}})
// CHECK-NEXT: %0 = stablehlo.pad %arg0, %arg1, low = [1], high = [0], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: return %0 : tensor<8xf32>
func.func @pad(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %v: tensor<f32>) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.pad %a, %v, low = [1], high = [0], interior = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>, tensor<f32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// Padding before the first and after the last shard: each device pads on both sides, and slices its shard.
// CHECK-LABEL: func.func @pad_differently(%arg0: tensor<4xf32>{{.*}}, %arg1: tensor<f32>) -> (tensor<6xf32>{{.*}})
// CHECK-NEXT: %0 = stablehlo.pad %arg0, %arg1, low = [2], high = [2], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %1 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %c = stablehlo.constant dense<[0, 2]> : tensor<2xi32>
// CHECK-NEXT: %2 = stablehlo.dynamic_slice %c, %1, sizes = [1] : (tensor<2xi32>, tensor<ui32>) -> tensor<1xi32>
// CHECK-NEXT: %3 = stablehlo.reshape %2 : (tensor<1xi32>) -> tensor<i32>
// CHECK-NEXT: %4 = stablehlo.dynamic_slice %0, %3, sizes = [6] : (tensor<8xf32>, tensor<i32>) -> tensor<6xf32>
// CHECK-NEXT: return %4 : tensor<6xf32>
func.func @pad_differently(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %v: tensor<f32>) -> (tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.pad %a, %v, low = [2], high = [2], interior = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>, tensor<f32>) -> tensor<12xf32>
  return %0 : tensor<12xf32>
}

// A dimension of size 0 has empty shards.
// CHECK-LABEL: func.func @empty
func.func @empty(%a: tensor<0xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<0xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // CHECK: stablehlo.slice %arg0 [0:0:2]
  %0 = stablehlo.slice %a [0:0:2] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<0xf32>) -> tensor<0xf32>
  return %0 : tensor<0xf32>
}
