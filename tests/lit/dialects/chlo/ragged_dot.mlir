// RUN: sdy-opt %s | filecheck %s

// A ragged non-contracting dimension: each group of rows has its own rhs matrix.
// CHECK-LABEL: func.func @free
func.func @free(%lhs: tensor<11x5xf32>, %rhs: tensor<3x5x7xf32>, %groups: tensor<3xi64>) {
  // CHECK: "chlo.ragged_dot"(%{{.*}}, %{{.*}}, %{{.*}}) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision HIGH>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}>
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %groups) {
    ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>,
    precision_config = [#chlo<precision DEFAULT>, #chlo<precision HIGH>]
  } : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
  return
}

// A ragged contracting dimension gives one result per group.
// CHECK-LABEL: func.func @contracting
func.func @contracting(%lhs: tensor<11x5xf32>, %rhs: tensor<5x7xf32>, %groups: tensor<3xi64>) {
  // CHECK: -> tensor<3x11x7xf32>
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %groups) {
    ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [1]>
  } : (tensor<11x5xf32>, tensor<5x7xf32>, tensor<3xi64>) -> tensor<3x11x7xf32>
  return
}

// A ragged batching dimension.
// CHECK-LABEL: func.func @sizes_per_batch
func.func @sizes_per_batch(%lhs: tensor<2x4x5xf32>, %rhs: tensor<3x2x5x7xf32>, %groups: tensor<2x3xi64>) {
  // CHECK: (tensor<2x4x5xf32>, tensor<3x2x5x7xf32>, tensor<2x3xi64>) -> tensor<2x4x7xf32>
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %groups) {
    ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2],
      rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>
  } : (tensor<2x4x5xf32>, tensor<3x2x5x7xf32>, tensor<2x3xi64>) -> tensor<2x4x7xf32>
  return
}
