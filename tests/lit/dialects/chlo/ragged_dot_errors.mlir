// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @nothing_ragged(%lhs: tensor<11x5xf32>, %rhs: tensor<3x5x7xf32>, %groups: tensor<3xi64>) {
  // expected-error @+1 {{There must be exactly one ragged dimension in the lhs.}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %groups) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], rhs_group_dimensions = [0]>} : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
  return
}

// -----

func.func @no_such_dimension(%lhs: tensor<11x5xf32>, %rhs: tensor<3x5x7xf32>, %groups: tensor<3xi64>) {
  // expected-error @+1 {{Expects lhs_ragged_dim to be in range [0, lhs_rank) i.e. [0, 2). got: 4.}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %groups) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [4], rhs_group_dimensions = [0]>} : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
  return
}

// -----

func.func @no_groups_in_rhs(%lhs: tensor<11x5xf32>, %rhs: tensor<3x5x7xf32>, %groups: tensor<3xi64>) {
  // expected-error @+1 {{There must be exactly one group dimension in the rhs when the lhs ragged dimension is non-contracting.}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %groups) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0]>} : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
  return
}

// -----

func.func @groups_of_a_sum(%lhs: tensor<11x5xf32>, %rhs: tensor<3x5x7xf32>, %groups: tensor<3xi64>) {
  // expected-error @+1 {{There must be zero group dimensions in the rhs when the ragged dimension is batch or contracting.}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %groups) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>} : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
  return
}

// -----

func.func @group_count(%lhs: tensor<11x5xf32>, %rhs: tensor<3x5x7xf32>, %groups: tensor<4xi64>) {
  // expected-error @+1 {{rhs group dimension is expected to have size=4, got 3}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %groups) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<4xi64>) -> tensor<11x7xf32>
  return
}

// -----

func.func @rank_of_group_sizes(%lhs: tensor<11x5xf32>, %rhs: tensor<3x5x7xf32>, %groups: tensor<1x3xi64>) {
  // expected-error @+1 {{expected group_sizes to have rank 1, got 2}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %groups) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<1x3xi64>) -> tensor<11x7xf32>
  return
}

// -----

func.func @result(%lhs: tensor<11x5xf32>, %rhs: tensor<3x5x7xf32>, %groups: tensor<3xi64>) {
  // expected-error @+1 {{inferred shape '[11, 7]' is incompatible with return type of operation 'tensor<11x8xf32>'}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %groups) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x8xf32>
  return
}

// -----

func.func @unranked(%lhs: tensor<*xf32>, %rhs: tensor<3x5x7xf32>, %groups: tensor<3xi64>) {
  // expected-error @+1 {{expects lhs and rhs to be ranked tensors}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %groups) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<*xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
  return
}

// -----

func.func @unranked_result(%lhs: tensor<11x5xf32>, %rhs: tensor<3x5x7xf32>, %groups: tensor<3xi64>) {
  // expected-error @+1 {{inferred shape '[11, 7]' is incompatible with return type of operation 'tensor<*xf32>'}}
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %groups) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<*xf32>
  return
}
