// RUN: sdy-opt %s -sdy-temp-explicit-reshards-for-optimizations | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2, "z"=4]>

// The rows of lhs are sharded along "y", the contracting dimension and the rows of the result along "x": the
// result is computed with the rows of lhs and resharded for its users.
// CHECK-LABEL: func.func @rows_wanted_where_sums_are
func.func @rows_wanted_where_sums_are(
    %lhs: tensor<4x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>},
    %rhs: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK-NEXT: %[[PRODUCT:.*]] = stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>}
  // CHECK-NEXT: %[[MOVED:.*]] = sdy.reshard %[[PRODUCT]] <@mesh, [{"x"}, {}]>
  // CHECK-NEXT: %[[TWICE:.*]] = stablehlo.add %[[MOVED]], %[[MOVED]]
  // CHECK-NEXT: return %[[TWICE]], %[[MOVED]]
  %product = stablehlo.dot %lhs, %rhs {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
    : (tensor<4x32xf32>, tensor<32x8xf32>) -> tensor<4x8xf32>
  %twice = stablehlo.add %product, %product : tensor<4x8xf32>
  return %twice, %product : tensor<4x8xf32>, tensor<4x8xf32>
}

// The same for columns, and for a batched dot.
// CHECK-LABEL: func.func @columns_of_a_batch
func.func @columns_of_a_batch(
    %lhs: tensor<4x8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}, {}, {"x"}]>},
    %rhs: tensor<4x32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}, {"x"}, {"y"}]>}) -> tensor<4x8x8xf32> {
  // CHECK-NEXT: %[[PRODUCT:.*]] = stablehlo.dot_general {{.*}}[<@mesh, [{"z"}, {}, {"y"}]>]
  // CHECK-NEXT: sdy.reshard %[[PRODUCT]] <@mesh, [{"z"}, {}, {"x"}]>
  %product = stablehlo.dot_general %lhs, %rhs, batching_dims = [0] x [0], contracting_dims = [2] x [1]
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z"}, {}, {"x"}]>]>}
    : (tensor<4x8x32xf32>, tensor<4x32x8xf32>) -> tensor<4x8x8xf32>
  return %product : tensor<4x8x8xf32>
}

// Axes of several contracting dimensions count together, in their order; open dimensions stay open.
// CHECK-LABEL: func.func @two_sums
func.func @two_sums(
    %lhs: tensor<4x8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"z"}, {"x"}]>},
    %rhs: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}, {"x"}]>}) -> tensor<4xf32> {
  // CHECK-NEXT: %[[PRODUCT:.*]] = stablehlo.dot_general {{.*}}[<@mesh, [{"y", ?}]>]
  // CHECK-NEXT: sdy.reshard %[[PRODUCT]] <@mesh, [{"z", "x", ?}]>
  %product = stablehlo.dot_general %lhs, %rhs, contracting_dims = [1, 2] x [0, 1]
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z", "x", ?}]>]>}
    : (tensor<4x8x32xf32>, tensor<8x32xf32>) -> tensor<4xf32>
  return %product : tensor<4xf32>
}

// If lhs is not sharded along the rows, a reduce-scatter is possible: nothing is inserted.
// CHECK-LABEL: func.func @reduce_scatter
func.func @reduce_scatter(
    %lhs: tensor<4x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    %rhs: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x8xf32> {
  // CHECK-NOT: sdy.reshard
  %product = stablehlo.dot %lhs, %rhs {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
    : (tensor<4x32xf32>, tensor<32x8xf32>) -> tensor<4x8xf32>
  return %product : tensor<4x8xf32>
}

// The result is sharded along "z", not along the contracting axis "x".
// CHECK-LABEL: func.func @rows_wanted_elsewhere
func.func @rows_wanted_elsewhere(
    %lhs: tensor<4x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>},
    %rhs: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x8xf32> {
  // CHECK-NOT: sdy.reshard
  %product = stablehlo.dot %lhs, %rhs {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z"}, {}]>]>}
    : (tensor<4x32xf32>, tensor<32x8xf32>) -> tensor<4x8xf32>
  return %product : tensor<4x8xf32>
}

// A result that is larger than lhs costs more to reshard.
// CHECK-LABEL: func.func @bigger_than_lhs
func.func @bigger_than_lhs(
    %lhs: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>},
    %rhs: tensor<2x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x8xf32> {
  // CHECK-NOT: sdy.reshard
  %product = stablehlo.dot %lhs, %rhs {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
    : (tensor<4x2xf32>, tensor<2x8xf32>) -> tensor<4x8xf32>
  return %product : tensor<4x8xf32>
}

// Operands with different contracting axes, or with one axis for rows and columns, must be resharded
// anyway.
// CHECK-LABEL: func.func @operands_disagree
func.func @operands_disagree(
    %lhs: tensor<4x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>},
    %rhs: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}, {}]>},
    %other: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK-NOT: sdy.reshard
  %0 = stablehlo.dot %lhs, %rhs {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
    : (tensor<4x32xf32>, tensor<32x8xf32>) -> tensor<4x8xf32>
  %1 = stablehlo.dot %lhs, %other {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
    : (tensor<4x32xf32>, tensor<32x8xf32>) -> tensor<4x8xf32>
  return %0, %1 : tensor<4x8xf32>, tensor<4x8xf32>
}

// A ragged dot gets all reshards: rows and groups are replicated, batch and contracting dimensions are kept, and
// the result is all-reduced.
// CHECK-LABEL: func.func @groups_of_rows
func.func @groups_of_rows(
    %lhs: tensor<16x32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}, {"z"}]>},
    %rhs: tensor<4x16x64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {"z"}, {}]>},
    %sizes: tensor<16x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x32x8xf32> {
  // CHECK-NEXT: %[[LHS:.*]] = sdy.reshard %arg0 <@mesh, [{"x"}, {}, {"z"}]>
  // CHECK-NEXT: %[[PRODUCT:.*]] = "mhlo.ragged_dot"(%[[LHS]], %arg1, %arg2)
  // CHECK-SAME: [<@mesh, [{"x"}, {}, {}]>]
  // CHECK-NEXT: %[[SUM:.*]] = sdy.all_reduce {"z"} %[[PRODUCT]] out_sharding=<@mesh, [{"x"}, {}, {}]>
  // CHECK-NEXT: sdy.reshard %[[SUM]] <@mesh, [{"x"}, {"y"}, {}]>
  %product = "mhlo.ragged_dot"(%lhs, %rhs, %sizes) <{ragged_dot_dimension_numbers =
      #mhlo.ragged_dot<dot_dimension_numbers = #mhlo.dot<
          lhs_batching_dimensions = [0], rhs_batching_dimensions = [1],
          lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>,
        lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>}> {
      sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}, {}]>]>,
      sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, l], [m, i, l, k], [i, m])->([i, j, k])
        {i=16, j=32, k=8, l=64, m=4} reduction={l} need_replication={j, m}>}
    : (tensor<16x32x64xf32>, tensor<4x16x64x8xf32>, tensor<16x4xi32>) -> tensor<16x32x8xf32>
  return %product : tensor<16x32x8xf32>
}
