// RUN: sdy-opt %s | filecheck %s

// CHECK-LABEL: func.func @rows
func.func @rows(%x: tensor<3x4x5xf32>, %i: tensor<2x6x2xi64>, %u: tensor<2x6x5xf32>) {
  // CHECK: "stablehlo.scatter"(%{{.*}}, %{{.*}}, %{{.*}}) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>}> ({
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>):
  // CHECK: }) : (tensor<3x4x5xf32>, tensor<2x6x2xi64>, tensor<2x6x5xf32>) -> tensor<3x4x5xf32>
  %0 = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %1 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {
    scatter_dimension_numbers = #stablehlo.scatter<
      update_window_dims = [2], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>
  } : (tensor<3x4x5xf32>, tensor<2x6x2xi64>, tensor<2x6x5xf32>) -> tensor<3x4x5xf32>
  return
}

// Several inputs share the indices; each input has its own updates.
// CHECK-LABEL: func.func @several
func.func @several(%x: tensor<3xf32>, %y: tensor<3xi32>, %i: tensor<1xi64>, %u: tensor<f32>, %v: tensor<i32>) {
  // CHECK: %{{.*}}:2 = "stablehlo.scatter"
  // CHECK-SAME: indices_are_sorted = true
  // CHECK-SAME: unique_indices = false
  %0:2 = "stablehlo.scatter"(%x, %y, %i, %u, %v) <{
    scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>,
    indices_are_sorted = true, unique_indices = false
  }> ({
  ^bb0(%a: tensor<f32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<i32>):
    stablehlo.return %c, %d : tensor<f32>, tensor<i32>
  }) : (tensor<3xf32>, tensor<3xi32>, tensor<1xi64>, tensor<f32>, tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>)
  return
}

// CHECK-LABEL: func.func @select_and_scatter
func.func @select_and_scatter(%x: tensor<8x8xf32>, %source: tensor<4x4xf32>, %init: tensor<f32>) {
  // CHECK: "stablehlo.select_and_scatter"(%{{.*}}, %{{.*}}, %{{.*}}) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  // CHECK: }, {
  %0 = "stablehlo.select_and_scatter"(%x, %source, %init) <{
    window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>
  }> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8x8xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<8x8xf32>
  return
}
