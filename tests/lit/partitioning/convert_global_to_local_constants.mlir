// RUN: sdy-opt %s -sdy-convert-global-to-local | filecheck %s

// Values that each device computes by itself.

sdy.mesh @mesh = <["x"=2]>

// All shards of a splat are equal.
// CHECK-LABEL: func.func @splat() -> (tensor<4xf32>{{.*}})
// CHECK-NEXT: %cst = stablehlo.constant dense<1.000000e+00> : tensor<4xf32>
// CHECK-NEXT: return %cst : tensor<4xf32>
func.func @splat() -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<1.0> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Of any other constant, each device has all elements, and slices its shard.
// CHECK-LABEL: func.func @elements() -> (tensor<2xf32>{{.*}})
// CHECK-NEXT: %cst = stablehlo.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>
// CHECK-NEXT: %0 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %c = stablehlo.constant dense<[0, 2]> : tensor<2xi32>
// CHECK-NEXT: %1 = stablehlo.dynamic_slice %c, %0, sizes = [1] : (tensor<2xi32>, tensor<ui32>) -> tensor<1xi32>
// CHECK-NEXT: %2 = stablehlo.reshape %1 : (tensor<1xi32>) -> tensor<i32>
// CHECK-NEXT: %3 = stablehlo.dynamic_slice %cst, %2, sizes = [2] : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>
// CHECK-NEXT: return %3 : tensor<2xf32>
func.func @elements() -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// An iota along another dimension is the same in every shard.
// CHECK-LABEL: func.func @iota_elsewhere() -> (tensor<4x4xi32>{{.*}})
// CHECK-NEXT: %0 = stablehlo.iota dim = 1 : tensor<4x4xi32>
// CHECK-NEXT: return %0 : tensor<4x4xi32>
func.func @iota_elsewhere() -> (tensor<8x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.iota dim = 1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x4xi32>
  return %0 : tensor<8x4xi32>
}

// An iota along the sharded dimension starts at the offset of the shard.
// CHECK-LABEL: func.func @iota() -> (tensor<4x4xi32>{{.*}})
// CHECK-NEXT: %0 = stablehlo.iota dim = 0 : tensor<4x4xi32>
// CHECK-NEXT: %1 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %c = stablehlo.constant dense<[0, 4]> : tensor<2xi32>
// CHECK-NEXT: %2 = stablehlo.dynamic_slice %c, %1, sizes = [1] : (tensor<2xi32>, tensor<ui32>) -> tensor<1xi32>
// CHECK-NEXT: %3 = stablehlo.reshape %2 : (tensor<1xi32>) -> tensor<i32>
// CHECK-NEXT: %4 = stablehlo.convert %3 : tensor<i32>
// CHECK-NEXT: %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i32>) -> tensor<4x4xi32>
// CHECK-NEXT: %6 = stablehlo.add %0, %5 : tensor<4x4xi32>
// CHECK-NEXT: return %6 : tensor<4x4xi32>
func.func @iota() -> (tensor<8x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.iota dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x4xi32>
  return %0 : tensor<8x4xi32>
}
