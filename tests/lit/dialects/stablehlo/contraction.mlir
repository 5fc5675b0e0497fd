// RUN: sdy-opt %s | filecheck %s

// dot accepts vectors and matrices.
// CHECK-LABEL: func.func @dot
func.func @dot(%vector: tensor<4xf32>, %matrix: tensor<4x3xf32>, %dynamic: tensor<?x4xf32>) {
  // CHECK: stablehlo.dot %{{.*}}, %{{.*}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  %0 = stablehlo.dot %vector, %vector : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  // CHECK: stablehlo.dot %{{.*}}, %{{.*}}, precision = [HIGH, DEFAULT] : (tensor<4xf32>, tensor<4x3xf32>) -> tensor<3xf32>
  %1 = stablehlo.dot %vector, %matrix, precision = [HIGH, DEFAULT] : (tensor<4xf32>, tensor<4x3xf32>) -> tensor<3xf32>
  // CHECK: stablehlo.dot %{{.*}}, %{{.*}} : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %2 = stablehlo.dot %dynamic, %matrix : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  return
}

// Empty batching dimensions are not printed; empty contracting dimensions are.
// CHECK-LABEL: func.func @dot_general
func.func @dot_general(%lhs: tensor<2x3x4xf32>, %rhs: tensor<2x4x5xf32>) {
  // CHECK: stablehlo.dot_general %{{.*}}, %{{.*}}, batching_dims = [0] x [0], contracting_dims = [2] x [1] :
  %0 = stablehlo.dot_general %lhs, %rhs, batching_dims = [0] x [0], contracting_dims = [2] x [1]
    : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  // CHECK: stablehlo.dot_general %{{.*}}, %{{.*}}, contracting_dims = [] x [] {note} :
  %1 = stablehlo.dot_general %lhs, %rhs, contracting_dims = [] x [] {note}
    : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x4x2x4x5xf32>
  // CHECK: stablehlo.dot_general %{{.*}}, %{{.*}}, contracting_dims = [0, 2] x [0, 1], precision = [HIGHEST, HIGHEST] :
  %2 = "stablehlo.dot_general"(%lhs, %rhs) <{
    dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 2], rhs_contracting_dimensions = [0, 1]>,
    precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]
  }> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<3x5xf32>
  return
}

// CHECK-LABEL: func.func @algorithm
func.func @algorithm(%lhs: tensor<3x4xf32>, %rhs: tensor<4x5xf32>) {
  // CHECK: contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = tf32,
  // CHECK-SAME: rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1,
  // CHECK-SAME: num_primitive_operations = 3, allow_imprecise_accumulation = false> :
  %0 = stablehlo.dot_general %lhs, %rhs, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT],
    algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32,
                 lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3,
                 allow_imprecise_accumulation = false> : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  return
}

// The bound of a batching dimension applies to the result.
// CHECK-LABEL: func.func @bounded_batch
func.func @bounded_batch(%lhs: tensor<?x3x4xf32, #stablehlo.bounds<2, ?, ?>>, %rhs: tensor<?x4x5xf32>) {
  // CHECK: -> tensor<?x3x5xf32>
  %0 = stablehlo.dot_general %lhs, %rhs, batching_dims = [0] x [0], contracting_dims = [2] x [1]
    : (tensor<?x3x4xf32, #stablehlo.bounds<2, ?, ?>>, tensor<?x4x5xf32>) -> tensor<?x3x5xf32>
  return
}

// CHECK-LABEL: func.func @einsum
func.func @einsum(%x: tensor<3x4xf32>) {
  // CHECK: stablehlo.einsum %{{.*}}, %{{.*}}, config = "ij,kj->ik" :
  %0 = stablehlo.einsum %x, %x, config = "ij,kj->ik" : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x3xf32>
  // CHECK: stablehlo.unary_einsum %{{.*}}, config = "ij->i" :
  %1 = stablehlo.unary_einsum %x, config = "ij->i" : (tensor<3x4xf32>) -> tensor<3xf32>
  return
}

// CHECK-LABEL: func.func @attributes
// CHECK-SAME: a = #stablehlo.dot<>, b = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1]>
func.func @attributes() attributes {
  a = #stablehlo.dot<lhs_batching_dimensions = []>,
  b = #stablehlo<dot<rhs_batching_dimensions = [1], lhs_batching_dimensions = [0],>>
} {
  return
}
