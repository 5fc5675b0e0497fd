// RUN: sdy-opt %s -sdy-resolve-permutation-factors | filecheck %s

// Slices are gathered, instead of the tensors that they are slices of.

sdy.mesh @mesh = <["x"=2]>

// One row is gathered, and not all 64.
// CHECK-LABEL: func.func @dynamic_slice(%arg0: tensor<64x8xf32>{{.*}}, %arg1: tensor<i32>) -> tensor<1x8xf32>
// CHECK-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// CHECK-NEXT: %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 8]{{.*}} : (tensor<64x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
// CHECK-NEXT: %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<1x8xf32>
// CHECK-NEXT: return %1 : tensor<1x8xf32>
func.func @dynamic_slice(%a: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %i: tensor<i32>) -> tensor<1x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = sdy.reshard %a <@mesh, [{}, {}]> : tensor<64x8xf32>
  %1 = stablehlo.dynamic_slice %0, %i, %zero, sizes = [1, 8] : (tensor<64x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
  return %1 : tensor<1x8xf32>
}

// The dimension that is sliced is the one that is gathered: the slice needs the whole tensor.
// CHECK-LABEL: func.func @sliced_dimension(%arg0: tensor<64x8xf32>{{.*}}, %arg1: tensor<i32>) -> tensor<40x8xf32>
// CHECK-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}, {}]> : tensor<64x8xf32>
// CHECK-NEXT: %1 = stablehlo.dynamic_slice %0, %arg1, %c, sizes = [40, 8] : (tensor<64x8xf32>, tensor<i32>, tensor<i32>) -> tensor<40x8xf32>
// CHECK-NEXT: return %1 : tensor<40x8xf32>
func.func @sliced_dimension(%a: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<i32>) -> tensor<40x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = sdy.reshard %a <@mesh, [{}, {}]> : tensor<64x8xf32>
  %1 = stablehlo.dynamic_slice %0, %i, %zero, sizes = [40, 8] : (tensor<64x8xf32>, tensor<i32>, tensor<i32>) -> tensor<40x8xf32>
  return %1 : tensor<40x8xf32>
}

// The gather is of the argument of a function that is called once.
// CHECK-LABEL: func.func @call(%arg0: tensor<64x8xf32>{{.*}}, %arg1: tensor<i32>) -> tensor<1x8xf32>
// CHECK-NEXT: %0 = call @row(%arg0, %arg1) : (tensor<64x8xf32>, tensor<i32>) -> tensor<1x8xf32>
// CHECK-NEXT: return %0 : tensor<1x8xf32>
func.func @call(%a: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %i: tensor<i32>) -> tensor<1x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{}, {}]> : tensor<64x8xf32>
  %1 = call @row(%0, %i) : (tensor<64x8xf32>, tensor<i32>) -> tensor<1x8xf32>
  return %1 : tensor<1x8xf32>
}

// CHECK-LABEL: func.func private @row(%arg0: tensor<64x8xf32>{{.*}}, %arg1: tensor<i32>) -> tensor<1x8xf32>
// CHECK-NEXT: %c = stablehlo.constant dense<0> : tensor<i32>
// CHECK-NEXT: %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 8]{{.*}} : (tensor<64x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
// CHECK-NEXT: %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<1x8xf32>
// CHECK-NEXT: return %1 : tensor<1x8xf32>
func.func private @row(%a: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %i: tensor<i32>) -> tensor<1x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.dynamic_slice %a, %i, %zero, sizes = [1, 8] : (tensor<64x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}
