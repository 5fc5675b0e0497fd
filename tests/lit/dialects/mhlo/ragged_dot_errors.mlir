// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @two_ragged_dimensions(%lhs: tensor<8x6xf32>, %rhs: tensor<4x6x2xf32>, %sizes: tensor<4xi32>) -> tensor<8x2xf32> {
  // expected-error @+1 {{There must be exactly one ragged dimension in the lhs.}}
  %0 = "mhlo.ragged_dot"(%lhs, %rhs, %sizes) <{ragged_dot_dimension_numbers = #mhlo.ragged_dot<
      dot_dimension_numbers = #mhlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>,
      lhs_ragged_dimensions = [0, 1], rhs_group_dimensions = [0]>}>
    : (tensor<8x6xf32>, tensor<4x6x2xf32>, tensor<4xi32>) -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}

// -----

// expected-error @+1 {{unknown mhlo attribute}}
func.func @unknown() attributes {mhlo.what = #mhlo.nothing<1>} { return }

// -----

// Operands and results are ranked.
func.func @unranked_group_sizes(%lhs: tensor<8x6xf32>, %rhs: tensor<4x6x2xf32>, %sizes: tensor<*xi32>) -> tensor<8x2xf32> {
  // expected-error @+1 {{operand #2 must be ranked tensor}}
  %0 = "mhlo.ragged_dot"(%lhs, %rhs, %sizes) <{ragged_dot_dimension_numbers = #mhlo.ragged_dot<
      dot_dimension_numbers = #mhlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>,
      lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}>
    : (tensor<8x6xf32>, tensor<4x6x2xf32>, tensor<*xi32>) -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}
