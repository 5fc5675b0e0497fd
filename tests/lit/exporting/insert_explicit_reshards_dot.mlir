// RUN: sdy-opt %s -sdy-insert-explicit-reshards=enable-full-version=true | filecheck %s

sdy.mesh @mesh = <["x"=4, "y"=2]>

// Both operands are sharded in the contracting dimension, so the result is all-reduced.
// CHECK-LABEL: func.func @sum
// CHECK-NEXT: %0 = stablehlo.dot %arg0, %arg1
// CHECK-NEXT: %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]>
// CHECK-NEXT: return %1
func.func @sum(%lhs: tensor<4x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %rhs: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x8xf32> {
  %0 = stablehlo.dot %lhs, %rhs : (tensor<4x32xf32>, tensor<32x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// A result that is unreduced along "x" is all-reduced where it is used, here at the return.
// CHECK-LABEL: func.func @unreduced
// CHECK-NEXT: %0 = stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>}
// CHECK-NEXT: %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{}, {}], unreduced={"x"}>
// CHECK-NEXT: %2 = sdy.all_reduce {"x"} %1 out_sharding=<@mesh, [{}, {}]>
// CHECK-NEXT: return %2
func.func @unreduced(%lhs: tensor<4x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x", "y"}]>}, %rhs: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> tensor<4x8xf32> {
  %0 = stablehlo.dot %lhs, %rhs {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<4x32xf32>, tensor<32x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// Only one operand is sharded in the contracting dimension; it is larger than the other and the result.
// CHECK-LABEL: func.func @larger_contracts
// CHECK-NEXT: %0 = sdy.reshard %arg1 <@mesh, [{"x"}, {}]>
// CHECK-NEXT: %1 = stablehlo.dot %arg0, %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
// CHECK-NEXT: %2 = sdy.all_reduce {"x"} %1 out_sharding=<@mesh, [{}, {}]>
// CHECK-NEXT: %3 = sdy.reshard %2 <@mesh, [{"x"}, {}]>
// CHECK-NEXT: return %3
func.func @larger_contracts(%lhs: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %rhs: tensor<32x4xf32>) -> (tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot %lhs, %rhs {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<16x32xf32>, tensor<32x4xf32>) -> tensor<16x4xf32>
  return %0 : tensor<16x4xf32>
}

// The batch and the contracting factor shard equally many elements. The pass-through factor wins.
// CHECK-LABEL: func.func @passing_through_wins
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}, {}]>
// CHECK-NEXT: %1 = sdy.reshard %arg1 <@mesh, [{"x"}, {}, {"y"}]>
// CHECK-NEXT: %2 = stablehlo.dot_general %0, %1, batching_dims = [0] x [0], contracting_dims = [2] x [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {"y"}]>]>}
// CHECK-NEXT: %3 = sdy.reshard %2 <@mesh, [{}, {}, {"y"}]>
// CHECK-NEXT: return %3
func.func @passing_through_wins(%lhs: tensor<4x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {"y"}]>}, %rhs: tensor<4x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {"y"}]>}) -> (tensor<4x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"y"}]>}) {
  %0 = stablehlo.dot_general %lhs, %rhs, batching_dims = [0] x [0], contracting_dims = [2] x [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {"y"}]>]>} : (tensor<4x4x4xf32>, tensor<4x4x4xf32>) -> tensor<4x4x4xf32>
  return %0 : tensor<4x4x4xf32>
}

// Two contracting dimensions, each sharded along an axis: one all-reduce along both, in mesh order.
// CHECK-LABEL: func.func @two_contractions
// CHECK-NEXT: %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1, 2] x [0, 1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
// CHECK-NEXT: %1 = sdy.all_reduce {"x", "y"} %0 out_sharding=<@mesh, [{}, {}]>
// CHECK-NEXT: return %1
func.func @two_contractions(%lhs: tensor<2x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}, {"x"}]>}, %rhs: tensor<8x4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}, {}]>}) -> (tensor<2x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.dot_general %lhs, %rhs, contracting_dims = [1, 2] x [0, 1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<2x8x4xf32>, tensor<8x4x6xf32>) -> tensor<2x6xf32>
  return %0 : tensor<2x6xf32>
}

// Sub-axes of "x" in two contracting dimensions are merged to "x".
// CHECK-LABEL: func.func @parts_of_an_axis
// CHECK-NEXT: %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1, 2] x [0, 1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
// CHECK-NEXT: %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]>
// CHECK-NEXT: return %1
func.func @parts_of_an_axis(%lhs: tensor<2x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x":(1)2}, {"x":(2)2}]>}, %rhs: tensor<8x4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}, {"x":(2)2}, {}]>}) -> (tensor<2x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.dot_general %lhs, %rhs, contracting_dims = [1, 2] x [0, 1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<2x8x4xf32>, tensor<8x4x6xf32>) -> tensor<2x6xf32>
  return %0 : tensor<2x6xf32>
}

// Without a mesh nothing is inserted.
// CHECK-LABEL: func.func @no_shardings
// CHECK-NEXT: %0 = stablehlo.dot %arg0, %arg1
// CHECK-NEXT: return %0
func.func @no_shardings(%lhs: tensor<4x32xf32>, %rhs: tensor<32x8xf32>) -> tensor<4x8xf32> {
  %0 = stablehlo.dot %lhs, %rhs : (tensor<4x32xf32>, tensor<32x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
