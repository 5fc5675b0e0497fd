// RUN: sdy-opt %s "-stablehlo-refine-arguments=types=tensor<4x8xf32>,tensor<f32>" | filecheck %s
// RUN: not sdy-opt %s "-stablehlo-refine-arguments=types=tensor<4x8xf32>" 2>&1 | filecheck %s --check-prefix=COUNT
// RUN: not sdy-opt %s "-stablehlo-refine-arguments=types=tensor<4x8xf32>,tensor<4" 2>&1 | filecheck %s --check-prefix=TEXT
// RUN: not sdy-opt %s "-stablehlo-refine-arguments=types=tensor<4x8xf32>,!stablehlo.token" 2>&1 | filecheck %s --check-prefix=TENSOR
// RUN: not sdy-opt %s "-stablehlo-refine-arguments=types=tensor<4x8xi32>,tensor<f32>" 2>&1 | filecheck %s --check-prefix=ELEMENT
// RUN: not sdy-opt %s "-stablehlo-refine-arguments=types=tensor<*xf32>,tensor<f32>" 2>&1 | filecheck %s --check-prefix=RANKED
// RUN: not sdy-opt %s "-stablehlo-refine-arguments=types=tensor<?xf32>,tensor<f32>" 2>&1 | filecheck %s --check-prefix=RANK
// RUN: not sdy-opt %s "-stablehlo-refine-arguments=types=tensor<4x8xf32>,tensor<f64>" 2>&1 | filecheck %s --check-prefix=SCALAR
// RUN: not sdy-opt %s "-stablehlo-refine-arguments=types=tensor<5x9xf32>,tensor<f32>" 2>&1 | filecheck %s --check-prefix=SIZE

// COUNT: refine_arguments.mlir:{{[0-9]+}}:1: error: 'func.func' op number of refinements must match number of op operands 1 vs 2
// TEXT: error: 'builtin.module' op Invalid type string: tensor<4
// TEXT: help: write types=tensor<8x16xf32>,tensor<f32>
// TENSOR: error: 'func.func' op invalid refinement for argument 1, refinement must be a tensor in tensor<f32> -> !stablehlo.token
// ELEMENT: error: 'func.func' op invalid refinement for argument 0, refinement element types must match in tensor<?x8xf32> -> tensor<4x8xi32>
// RANKED: error: 'func.func' op invalid refinement for argument 0, refinement must be ranked in tensor<?x8xf32> -> tensor<*xf32>
// RANK: error: 'func.func' op invalid refinement for argument 0, refinement rank must match operand rank in tensor<?x8xf32> -> tensor<?xf32>
// SCALAR: error: 'func.func' op invalid refinement for argument 1, refinement element types must match in tensor<f32> -> tensor<f64>
// SIZE: error: 'func.func' op invalid refinement for argument 0, refinement dimension sizes must match for static dimensions in tensor<?x8xf32> -> tensor<5x9xf32>

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:.*]]: tensor<4x8xf32>, %{{.*}}: tensor<f32>) -> tensor<?x8xf32> {
// CHECK-NEXT:    %[[C:.*]] = stablehlo.constant dense<[4, 8]> : tensor<2xi64>
// CHECK-NEXT:    %[[W:.*]] = stablehlo.custom_call @stablehlo.shape_refinement_operand_wrapper(%[[X]], %[[C]]) {indices_of_shape_operands = dense<1> : tensor<1xi64>} : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<?x8xf32>
// CHECK-NEXT:    stablehlo.tanh %[[W]] : tensor<?x8xf32>

func.func @main(%x: tensor<?x8xf32>, %y: tensor<f32>) -> tensor<?x8xf32> {
  %0 = stablehlo.tanh %x : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
