// Before they partition a program, the compilers for TPU and GPU simplify more than that for the CPU.
// RUN: sdy-opt %s --report | filecheck %s
// RUN: sdy-opt %s --report --topology=tpu-v5e | filecheck %s --check-prefix=TPU
// RUN: sdy-opt %s --report --topology=cpu | filecheck %s --check-prefix=CPU
// RUN: sdy-opt %s --pass-pipeline='builtin.module(sdy-simplify-hlo{compiler=cpu})' | filecheck %s --check-prefix=KEPT
// RUN: sdy-opt %s --pass-pipeline='builtin.module(sdy-simplify-hlo{compiler=gpu})' | filecheck %s --check-prefix=SIMPLE

sdy.mesh @mesh = <["x"=4]>

// CHECK: assumed: sdy-jax-pipeline, which
// CHECK: in 0 products
// TPU:   in 0 products
// CPU:   assumed: sdy-jax-pipeline{compiler=cpu}, which
// CPU:   in 1 product

// KEPT:        stablehlo.dot_general
// KEPT:        stablehlo.add
// SIMPLE-NOT:  stablehlo.dot_general
// SIMPLE:      stablehlo.multiply
// SIMPLE:      %[[SUM:.*]] = "stablehlo.scatter"(%arg2,
// SIMPLE:      return %{{.*}}, %[[SUM]]
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
