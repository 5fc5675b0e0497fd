// Before they partition a program, the compilers for TPU and GPU simplify more than that for the CPU.
// RUN: sdy-opt %s --report | filecheck %s
// RUN: sdy-opt %s --report --topology=tpu-v5e | filecheck %s --check-prefix=TPU
// RUN: sdy-opt %s --report --topology=cpu | filecheck %s --check-prefix=CPU
// RUN: sdy-opt %s --pass-pipeline='builtin.module(sdy-simplify-hlo{compiler=cpu})' | filecheck %s --check-prefix=KEPT
// RUN: sdy-opt %s --pass-pipeline='builtin.module(sdy-simplify-hlo{compiler=gpu})' | filecheck %s --check-prefix=SIMPLE
// RUN: sdy-opt %s --pass-pipeline='builtin.module(sdy-simplify-hlo{compiler=tpu})' | filecheck %s --check-prefix=ROWS
// RUN: sdy-opt %s -sdy-jax-pipeline=compiler=tpu --dump-pass-pipeline 2>&1 >/dev/null | filecheck %s --check-prefix=OF-TPU
// RUN: sdy-opt %s -sdy-jax-pipeline=compiler=gpu --dump-pass-pipeline 2>&1 >/dev/null | filecheck %s --check-prefix=OF-GPU
// RUN: sdy-opt %s -sdy-jax-pipeline=compiler=cpu --dump-pass-pipeline 2>&1 >/dev/null | filecheck %s --check-prefix=OF-CPU
//
// Sums of slices are merged where the compiler does it.
//
// OF-TPU: sdy-merge-all-reduces{slices-before=conversions
// OF-GPU: sdy-merge-all-reduces{slices-before=transposes
// OF-CPU: sdy-merge-all-reduces{slices-before=nothing

sdy.mesh @mesh = <["x"=4]>

// CHECK: assumed: sdy-jax-pipeline, which
// CHECK: in 0 products
// TPU:   assumed: sdy-jax-pipeline{compiler=tpu}, which
// TPU:   in 0 products
// CPU:   assumed: sdy-jax-pipeline{compiler=cpu}, which
// CPU:   in 1 product

// KEPT:        stablehlo.dot_general
// KEPT:        stablehlo.add
// SIMPLE-NOT:  stablehlo.dot_general
// SIMPLE:      stablehlo.multiply
// SIMPLE:      %[[SUM:.*]] = "stablehlo.scatter"(%arg2,
// SIMPLE:      return %{{.*}}, %[[SUM]]

// That for TPU compares indices in place of a scatter into rows: @rows. @two has two elements for a row, @most has
// the largest in place of a sum, @both has two tables, and @ones has no zeros.
// KEPT:        func.func private @rows
// KEPT:        stablehlo.scatter
// SIMPLE:      func.func private @rows
// SIMPLE:      stablehlo.scatter
// ROWS:        func.func private @rows(%[[INDEX:.*]]: tensor<4x8x1x1xi32>, %[[VALUE:.*]]: tensor<4x8x1xf32>)
// ROWS:        %[[FLAT:.*]] = stablehlo.reshape %[[INDEX]] : (tensor<4x8x1x1xi32>) -> tensor<4x8xi32>
// ROWS-NEXT:   %[[WIDE:.*]] = stablehlo.broadcast_in_dim %[[FLAT]], dims = [2, 0] : (tensor<4x8xi32>) -> tensor<8x64x4xi32>
// ROWS-NEXT:   %[[IOTA:.*]] = stablehlo.iota dim = 1 : tensor<8x64x4xi32>
// ROWS-NEXT:   %[[MASK:.*]] = stablehlo.compare EQ, %[[WIDE]], %[[IOTA]] :
// ROWS:        %[[WRITTEN:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [2, 0] : (tensor<4x8xf32>) -> tensor<8x64x4xf32>
// ROWS-NEXT:   stablehlo.select %[[MASK]], %[[WRITTEN]], %{{.*}} : tensor<8x64x4xi1>, tensor<8x64x4xf32>
// ROWS:        func.func private @two
// ROWS:        stablehlo.scatter
// ROWS:        func.func private @most
// ROWS:        stablehlo.scatter
// ROWS:        func.func private @both
// ROWS:        stablehlo.scatter
// ROWS:        func.func private @ones
// ROWS:        stablehlo.scatter
func.func @main(
    %arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<8x2xf32>,
    %arg2: tensor<64x8xf32>, %arg3: tensor<4x1xi32>, %arg4: tensor<4x8xf32>)
    -> (tensor<8x4x2xf32>, tensor<64x8xf32>) {
  %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [] x [] : (tensor<8x4xf32>, tensor<8x2xf32>) -> tensor<8x4x2xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<64x8xf32>
  %1 = "stablehlo.scatter"(%zeros, %arg3, %arg4) <{
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %sum = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %sum : tensor<f32>
  }) : (tensor<64x8xf32>, tensor<4x1xi32>, tensor<4x8xf32>) -> tensor<64x8xf32>
  %2 = stablehlo.add %1, %arg2 : tensor<64x8xf32>
  return %0, %2 : tensor<8x4x2xf32>, tensor<64x8xf32>
}

func.func private @rows(%indices: tensor<4x8x1x1xi32>, %values: tensor<4x8x1xf32>) -> tensor<8x64x4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<8x64x4xf32>
  %0 = "stablehlo.scatter"(%zeros, %indices, %values) <{
    scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0, 2],
      scatter_indices_batching_dims = [1, 0], scatter_dims_to_operand_dims = [1], index_vector_dim = 3>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %sum = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %sum : tensor<f32>
  }) : (tensor<8x64x4xf32>, tensor<4x8x1x1xi32>, tensor<4x8x1xf32>) -> tensor<8x64x4xf32>
  return %0 : tensor<8x64x4xf32>
}

func.func private @two(%indices: tensor<8x2x1xi32>, %values: tensor<8x2xf32>) -> tensor<8x64xf32> {
  %zeros = stablehlo.constant dense<0.0> : tensor<8x64xf32>
  %0 = "stablehlo.scatter"(%zeros, %indices, %values) <{
    scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0],
      scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %sum = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %sum : tensor<f32>
  }) : (tensor<8x64xf32>, tensor<8x2x1xi32>, tensor<8x2xf32>) -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}

func.func private @most(%indices: tensor<8x1x1xi32>, %values: tensor<8x1xf32>) -> tensor<8x64xf32> {
  %zeros = stablehlo.constant dense<0.0> : tensor<8x64xf32>
  %0 = "stablehlo.scatter"(%zeros, %indices, %values) <{
    scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0],
      scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %most = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %most : tensor<f32>
  }) : (tensor<8x64xf32>, tensor<8x1x1xi32>, tensor<8x1xf32>) -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}

func.func private @both(%indices: tensor<8x1x1xi32>, %values: tensor<8x1xf32>) -> (tensor<8x64xf32>, tensor<8x64xf32>) {
  %zeros = stablehlo.constant dense<0.0> : tensor<8x64xf32>
  %0:2 = "stablehlo.scatter"(%zeros, %zeros, %indices, %values, %values) <{
    scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0],
      scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
      %sum = stablehlo.add %a, %c : tensor<f32>
      %other = stablehlo.add %b, %d : tensor<f32>
      stablehlo.return %sum, %other : tensor<f32>, tensor<f32>
  }) : (tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x1x1xi32>, tensor<8x1xf32>, tensor<8x1xf32>)
      -> (tensor<8x64xf32>, tensor<8x64xf32>)
  return %0#0, %0#1 : tensor<8x64xf32>, tensor<8x64xf32>
}

func.func private @ones(%indices: tensor<8x1x1xi32>, %values: tensor<8x1xf32>) -> tensor<8x64xf32> {
  %ones = stablehlo.constant dense<1.0> : tensor<8x64xf32>
  %0 = "stablehlo.scatter"(%ones, %indices, %values) <{
    scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0],
      scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %sum = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %sum : tensor<f32>
  }) : (tensor<8x64xf32>, tensor<8x1x1xi32>, tensor<8x1xf32>) -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}
