// RUN: sdy-opt %s | filecheck %s

// The dot dimension numbers are a nested attribute; empty lists are not printed.
// CHECK-LABEL: func.func @groups_of_rows
func.func @groups_of_rows(%lhs: tensor<8x6xf32>, %rhs: tensor<4x6x2xf32>, %sizes: tensor<4xi32>) -> tensor<8x2xf32> {
  // CHECK: "mhlo.ragged_dot"(%arg0, %arg1, %arg2)
  // CHECK-SAME: precision_config = [#mhlo<precision DEFAULT>, #mhlo<precision HIGH>]
  // CHECK-SAME: #mhlo.ragged_dot<dot_dimension_numbers = #mhlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>
  %0 = "mhlo.ragged_dot"(%lhs, %rhs, %sizes) <{
      precision_config = [#mhlo<precision DEFAULT>, #mhlo<precision HIGH>],
      ragged_dot_dimension_numbers = #mhlo.ragged_dot<
        rhs_group_dimensions = [0], lhs_ragged_dimensions = [0],
        dot_dimension_numbers = #mhlo.dot<lhs_batching_dimensions = [],
          lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>>}>
    : (tensor<8x6xf32>, tensor<4x6x2xf32>, tensor<4xi32>) -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}
